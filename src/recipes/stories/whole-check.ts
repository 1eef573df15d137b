import type { Finding } from "./finding.js";
import type { Before, Snapshot } from "./snapshot.js";
import type { Story, TaskList } from "./tasks.js";

/** What no iteration may do to stories that were there before, with or without reviews. */
export function wholeFindings({ userStories }: TaskList, before: Snapshot): Finding[] {
  const now = new Map(userStories.map((story) => [story.id, story]));
  return [...before].flatMap(([id, old]) => {
    const story = now.get(id);
    return story === undefined ? [gone(id)] : weakened(story, old);
  });
}

function gone(id: string): Finding {
  return {
    check: 2.5,
    story: id,
    field: "id",
    message: `Story ${id} was deleted or renumbered. Stories may be added, split and reordered, and none may go. Put it back under its id.`,
  };
}

/** As long as nobody has worked on a story it may be cut into smaller ones. */
function weakened({ id, acceptanceCriteria }: Story, old: Before): Finding[] {
  if (old.reviewStatus === null && !old.passes) return [];
  const lost = (old.acceptanceCriteria ?? []).filter((criterion) => !acceptanceCriteria.includes(criterion));
  if (lost.length === 0) return [];
  return [
    {
      check: 2.5,
      story: id,
      field: "acceptanceCriteria",
      message: `Story ${id} is ${old.reviewStatus ?? "passed"} and lost an acceptance criterion: "${lost[0]}". Criteria may not be weakened once a story was implemented.`,
    },
  ];
}
