import type { Finding } from "./finding.js";
import type { Before, Snapshot } from "./snapshot.js";
import type { Story, TaskList } from "./tasks.js";

/** What no iteration may do to stories that were there before, with or without reviews. */
export function wholeFindings(now: TaskList, before: Snapshot): Finding[] {
  const stories = new Map(now.userStories.map((story) => [story.id, story]));
  return [...before].flatMap(([id, old]) => {
    const story = stories.get(id);
    return story === undefined ? [gone(id)] : weakened(story, old, now, before);
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

function weakened(story: Story, old: Before, now: TaskList, before: Snapshot): Finding[] {
  const { id, acceptanceCriteria } = story;
  const isUnbegun = old.reviewStatus === null && !old.passes;
  const still = new Set([...acceptanceCriteria, ...(isUnbegun ? moved(story, old, now, before) : [])]);
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

/**
 * Where the criteria of a story may have gone that nobody had begun: it may be cut into smaller ones, which take them
 * over, and the first of them may be worked on at once. Nothing takes their place where no story is added.
 */
function moved(story: Story, old: Before, { userStories }: TaskList, before: Snapshot): string[] {
  const isSplit = userStories.some(({ id }) => !before.has(id));
  const hasNew = story.acceptanceCriteria.some((criterion) => !old.acceptanceCriteria?.includes(criterion));
  if (!isSplit && hasNew) return [];
  return userStories
    .filter(({ id, passes, reviewStatus }) => id !== story.id && !passes && reviewStatus !== "approved")
    .flatMap(({ acceptanceCriteria }) => acceptanceCriteria);
}

const SPLIT = "A criterion may only go where it stands in another story that is not done.";
const KEPT = "Criteria may not be weakened once a story was implemented.";
