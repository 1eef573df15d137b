import type { Finding } from "./finding.js";
import type { Before, Snapshot } from "./snapshot.js";
import type { Story, TaskList } from "./tasks.js";

/** What no iteration may do to stories that were there before, with or without reviews. */
export function wholeFindings({ userStories }: TaskList, before: Snapshot): Finding[] {
  const now = new Map(userStories.map((story) => [story.id, story]));
  const moved = userStories.filter(({ id }) => !before.has(id)).flatMap((story) => story.acceptanceCriteria);
  return [...before].flatMap(([id, old]) => {
    const story = now.get(id);
    return story === undefined ? [gone(id)] : weakened(story, old, moved);
  });
}

export function gone(id: string): Finding {
  return {
    check: 2.5,
    story: id,
    field: "id",
    message: `Story ${id} was deleted or renumbered. Stories may be added, split and reordered, and none may go. Put it back under its id.`,
  };
}

/** As long as nobody has worked on a story it may be cut into smaller ones, which take its criteria over. */
function weakened(story: Story, old: Before, moved: string[]): Finding[] {
  const { id, acceptanceCriteria } = story;
  const isUnbegun = [old, story].every(({ reviewStatus, passes }) => reviewStatus === null && !passes);
  const still = new Set([...acceptanceCriteria, ...(isUnbegun ? moved : [])]);
  const lost = (old.acceptanceCriteria ?? []).filter((criterion) => !still.has(criterion));
  if (lost.length === 0) return [];
  const state = old.reviewStatus ?? (old.passes ? "passed" : undefined);
  const was = state === undefined ? "" : `is ${state} and `;
  return [
    {
      check: 2.5,
      story: id,
      field: "acceptanceCriteria",
      message: `Story ${id} ${was}lost an acceptance criterion: "${lost[0]}". ${isUnbegun ? SPLIT : KEPT}`,
    },
  ];
}

const SPLIT = "A criterion may only go where it reappears in a story that is added at the same time.";
const KEPT = "Criteria may not be weakened once a story was implemented.";
