import type { StateChanged } from "../../events.js";
import type { Answer, Verdict } from "../../loop/recipe.js";
import { likeness, likenessOf, namesOf } from "../../verify/failure.js";
import { saysPromise } from "../../verify/tag.js";
import { type LastTime, remember } from "./memory.js";
import type { StoriesSpec } from "./stories.js";
import { isDone, type Mode, modeOf, nextStory, type TaskList } from "./tasks.js";

/** Iterations in a row that break the rules before the run is given up. */
export const MAX_VIOLATIONS = 3;

/** What an iteration came to. */
export interface Result extends LastTime {
  answer: Answer;
  /** Whether it asks a human: that ends the run, whatever else could have. */
  asks: boolean;
  mode: Mode;
  after: TaskList;
  changes: StateChanged[];
  /** Stories and files with which the rules were broken. */
  broken: string[];
  /** Whether something is not committed. */
  isUncommitted: boolean;
}

export async function verdictOf(result: Result, spec: StoriesSpec): Promise<Verdict> {
  const { answer, asks, after, violations, told, broken } = result;
  const claimedDone = claimsDone(answer);
  const open = after.userStories.filter((story) => !isDone(story, spec));
  if (open.length === 0 && !result.isUncommitted)
    return { passed: true, reason: allDone(after, spec), claimedDone, stop: "completed" };
  const memory = remember(result);
  const given = { claimedDone, memory };
  const blocked = asks ? undefined : outOfReviews(result, spec);
  if (blocked !== undefined) return { passed: false, reason: blocked, ...given, stop: "blocked" };
  if (violations > 0) {
    const reason =
      open.length === 0
        ? `${allDone(after, spec)}, but not everything is committed`
        : `the agent broke the rules: ${[...new Set(broken)].join(", ")}`;
    const stop = violations >= MAX_VIOLATIONS && !asks ? { stop: "violation" as const } : {};
    return { passed: false, reason, ...given, ...stop, failure: await likeness(told) };
  }
  const wrong = whatIsMissing(result, claimedDone ? open.length : 0);
  if (wrong === undefined) return { passed: true, reason: moved(result.changes), ...given };
  return {
    passed: false,
    reason: wrong,
    ...given,
    failure: await likeness([wrong, ...result.failures.map(likenessOf)]),
  };
}

/** Whether the agent says that all is done. */
export function claimsDone({ finalMessage }: Answer): boolean {
  return saysPromise(finalMessage, "COMPLETE");
}

function allDone({ userStories }: TaskList, { skipReview }: StoriesSpec): string {
  return `all stories are ${skipReview ? "passed" : "approved"} (${userStories.length})`;
}

/** Work whose checks fail cannot be approved, and no review is left that could ask for more. */
function outOfReviews({ after: tasks, failures }: Result, spec: StoriesSpec): string | undefined {
  if (failures.length === 0 || modeOf(tasks, spec) !== "review") return undefined;
  const story = nextStory(tasks, "review", spec);
  if (story === undefined || story.reviewCount <= spec.reviewCap) return undefined;
  return `${story.id} was reviewed ${story.reviewCount} times and its verify commands failed: it needs you`;
}

function whatIsMissing(result: Result, open: number): string | undefined {
  const { failures, changes, mode, isUncommitted } = result;
  if (failures.length > 0 && mode !== "review") return `verify commands failed: ${namesOf(failures)}`;
  if (open > 0)
    return `claimed to be done, but ${open} of ${result.after.userStories.length} stories are not`;
  if (changes.length === 0)
    return mode === "implement" ? "no story was finished" : "the feedback is still open";
  return isUncommitted ? `${moved(changes)}; not everything is committed` : undefined;
}

/** `US-001 is approved (review 2)` */
function moved(changes: StateChanged[]): string {
  return changes.map(({ story, to, reviews }) => `${story} ${words(to, reviews ?? 0)}`).join(", ");
}

function words(to: string, reviews: number): string {
  switch (to) {
    case "needs_review":
      return "waits for its review";
    case "changes_requested":
      return `needs changes (review ${reviews})`;
    case "approved":
      return `is approved (review ${reviews})`;
    default:
      return `is ${to}`;
  }
}
