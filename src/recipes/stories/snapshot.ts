import type { Story, TaskList } from "./tasks.js";

/** Where a story stood before the iteration. `.ralph-active` has the first three, the loop knows all. */
export interface Before extends Pick<Story, "passes" | "reviewStatus" | "reviewCount"> {
  acceptanceCriteria?: string[];
  reviewFeedback?: string;
}

/** By the ids of the stories. */
export type Snapshot = ReadonlyMap<string, Before>;

export function snapshotOf({ userStories }: TaskList): Snapshot {
  return new Map(userStories.map((story) => [story.id, story]));
}

/** The part of it that is written for hooks and for the curious. */
export function shownSnapshot({ userStories }: TaskList): Record<string, Before> {
  return Object.fromEntries(
    userStories.map(({ id, passes, reviewStatus, reviewCount }) => [
      id,
      { passes, reviewStatus, reviewCount },
    ]),
  );
}
