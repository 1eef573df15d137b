import type { StateChanged } from "../../events.js";
import type { StoryReport } from "../../records/stories.js";
import type { ReviewStatus, Story, TaskList } from "./tasks.js";

export type Mode = "implement" | "review" | "review-fix";

export interface ReviewRules {
  /** Implement iterations pass stories themselves. */
  skipReview: boolean;
  /** Reviews per story; the last of them approves. */
  reviewCap: number;
}

type Skip = Pick<ReviewRules, "skipReview">;

export const DEFAULT_REVIEW_CAP = 5;

/** Begins the feedback of a story that was approved only because of the cap. */
export const AT_CAP = "[AUTO-APPROVED AT CAP]";

/** What comes next: feedback is addressed before anything is reviewed, and that before anything is begun. */
export function modeOf({ userStories }: TaskList, { skipReview }: Skip): Mode {
  if (skipReview) return "implement";
  const is = (status: ReviewStatus): boolean => userStories.some((story) => story.reviewStatus === status);
  if (is("changes_requested")) return "review-fix";
  return is("needs_review") ? "review" : "implement";
}

const WAITING: Record<Mode, ReviewStatus | null> = {
  implement: null,
  review: "needs_review",
  "review-fix": "changes_requested",
};

/** The story that an iteration of this mode should be about: the first by priority that waits for nothing else. */
export function nextStory({ userStories }: TaskList, mode: Mode, rules: Skip): Story | undefined {
  const done = new Set(userStories.filter((story) => isDone(story, rules)).map(({ id }) => id));
  const waits = (story: Story): boolean =>
    rules.skipReview ? !story.passes : !done.has(story.id) && story.reviewStatus === WAITING[mode];
  const isReady = ({ dependsOn = [] }: Story): boolean =>
    mode !== "implement" || dependsOn.every((id) => done.has(id));
  return userStories
    .filter((story) => waits(story) && isReady(story))
    .sort((a, b) => a.priority - b.priority)[0];
}

/** Whether a story needs nothing more. */
function isDone(story: Story, { skipReview }: Skip): boolean {
  return story.passes && (skipReview || story.reviewStatus === "approved");
}

export function openStories({ userStories }: TaskList, rules: Skip): Story[] {
  return userStories.filter((story) => !isDone(story, rules));
}

/** Where a story stands, in a word. */
export type StoryState = "todo" | ReviewStatus | "passed";

export function stateOf(story: Story, { skipReview }: Skip): StoryState {
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
  rules: Skip,
  iteration: number,
): StateChanged[] {
  const old = new Map(before.userStories.map((story) => [story.id, stateOf(story, rules)]));
  return after.userStories.flatMap((story) => {
    const [from, to] = [old.get(story.id) ?? "todo", stateOf(story, rules)];
    if (from === to) return [];
    const { id, title, reviewCount: reviews } = story;
    const atCap = isAtCap(story) && { atCap: true };
    return [{ type: "state.changed", iteration, from, to, story: id, title, reviews, ...atCap }];
  });
}

/** About how many iterations are left: to implement, to review, and half of the time to mend and review again. */
export function iterationsLeft(tasks: TaskList, rules: Skip): number {
  const left: Record<StoryState, number> = {
    todo: rules.skipReview ? 1 : 3,
    changes_requested: rules.skipReview ? 1 : 2,
    needs_review: 1,
    approved: 0,
    passed: 0,
  };
  return openStories(tasks, rules).reduce((sum, story) => sum + left[stateOf(story, rules)], 0);
}

/** Where the stories stand; `spent`: what each of them took, where it is asked for. */
export function boardOf(
  tasks: TaskList,
  rules: ReviewRules,
  run: string | null,
  spent?: Map<string, StoryReport>,
) {
  const { project, branchName, userStories } = tasks;
  const left = openStories(tasks, rules).length;
  const mode = modeOf(tasks, rules);
  const stories = userStories.map((story) => {
    const { id, title, priority, reviewCount: reviews, dependsOn = [] } = story;
    const [state, done, atCap] = [stateOf(story, rules), isDone(story, rules), isAtCap(story)];
    const own = { story: id, title, priority, state, done, reviews, atCap, dependsOn };
    if (spent === undefined) return own;
    const { iterations = 0, costUsd = null, durationMs = 0, violations = 0 } = spent.get(id) ?? {};
    return { ...own, iterations, costUsd, durationMs, violations };
  });
  return {
    v: 1 as const,
    project,
    branchName,
    stories,
    next: left === 0 ? null : { mode, story: nextStory(tasks, mode, rules)?.id ?? null },
    budget: { stories: left, iterations: iterationsLeft(tasks, rules) },
    reviewCap: rules.reviewCap,
    run,
  };
}
