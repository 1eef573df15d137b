import type { StateChanged } from "../../events.js";
import { AT_CAP, isDone, type ReviewRules, type Story, type TaskList } from "./tasks.js";

/** Where a story stands, in a word. */
export type StoryState = "todo" | "needs_review" | "changes_requested" | "approved" | "passed";

export function stateOf(story: Story, { skipReview }: Pick<ReviewRules, "skipReview">): StoryState {
  if (story.passes && skipReview && story.reviewStatus === null) return "passed";
  return story.reviewStatus ?? "todo";
}

/** Whether it was approved only because it had been reviewed often enough. */
export function isAtCap({ reviewStatus, reviewFeedback }: Story): boolean {
  return reviewStatus === "approved" && reviewFeedback.trimStart().startsWith(AT_CAP);
}

/** Stories that moved on between two lists. */
export function changesBetween(
  before: TaskList,
  after: TaskList,
  rules: ReviewRules,
  iteration: number,
): StateChanged[] {
  const old = new Map(before.userStories.map((story) => [story.id, story]));
  return after.userStories.flatMap((story) => {
    const was = old.get(story.id);
    const [from, to] = [was === undefined ? "todo" : stateOf(was, rules), stateOf(story, rules)];
    if (from === to) return [];
    const { id, title, reviewCount: reviews } = story;
    const atCap = isAtCap(story);
    return [
      { type: "state.changed", iteration, from, to, story: id, title, reviews, ...(atCap && { atCap }) },
    ];
  });
}

const PER_TODO = 3;

/** About how many iterations are left: to implement, to review, and half of the time to mend and review again. */
export function iterationsLeft({ userStories }: TaskList, rules: Pick<ReviewRules, "skipReview">): number {
  const left: Record<StoryState, number> = {
    todo: rules.skipReview ? 1 : PER_TODO,
    changes_requested: rules.skipReview ? 1 : 2,
    needs_review: 1,
    approved: 0,
    passed: 0,
  };
  return userStories
    .filter((story) => !isDone(story, rules))
    .reduce((sum, story) => sum + left[stateOf(story, rules)], 0);
}
