import { join } from "node:path";
import { RalphError } from "../../errors.js";
import type { StateChanged } from "../../events.js";
import type { StoryReport } from "../../records/report.js";
import { saysSomething, wholeNumber } from "../../settings/limits.js";
import type { Settings } from "../../settings/schema.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import type { ReviewStatus, Story, TaskList } from "./tasks.js";

/** Where the stories are unless the user says otherwise. */
export const STORIES_FOLDER = "ralph";

/** The files of a loop over stories, as names from the workspace on. */
export function storyFiles(dir: string) {
  return {
    tasks: join(dir, "tasks.json"),
    prd: join(dir, "prd.md"),
    progress: join(dir, "progress.txt"),
    prompt: join(dir, "prompt.md"),
    active: ACTIVE_FILE,
  };
}

export type Mode = "implement" | "review" | "review-fix";

export interface ReviewRules {
  /** Implement iterations pass stories themselves. */
  skipReview: boolean;
  /** Reviews per story; the last of them approves. */
  reviewCap: number;
  /** The one story of this loop: other loops work on the others. */
  only?: string | undefined;
}

type Skip = Pick<ReviewRules, "skipReview" | "only">;

export const DEFAULT_REVIEW_CAP = 5;

export interface ReviewFlags {
  skipReview?: boolean;
  reviewCap?: string;
  reviewerAgent?: string;
}

/** How stories are reviewed, by the flags, else by the settings. A reviewer on the command line wants reviews. */
export function reviewRules(
  { skipReview, reviewCap, reviewerAgent }: ReviewFlags,
  { review = {} }: Pick<Settings, "review">,
): { rules: ReviewRules; reviewer: string | undefined } {
  if (skipReview && reviewerAgent !== undefined)
    throw new RalphError("--skip-review and --reviewer-agent exclude each other", { code: "flag_invalid" });
  const given = reviewerAgent === undefined ? undefined : saysSomething("--reviewer-agent", reviewerAgent);
  const cap = reviewCap === undefined ? undefined : wholeNumber("--review-cap", reviewCap, 1);
  const rules = {
    skipReview: skipReview ?? (given === undefined && review.skip === true),
    reviewCap: cap ?? review.cap ?? DEFAULT_REVIEW_CAP,
  };
  return { rules, reviewer: rules.skipReview ? undefined : (given ?? review.agent) };
}

/** The role of the agent that reviews, where it is another one. */
export const REVIEWER = "reviewer";

/** Begins the feedback of a story that was approved only because of the cap. */
export const AT_CAP = "[AUTO-APPROVED AT CAP]";

/** What comes next: feedback is addressed before anything is reviewed, and that before anything is begun. */
export function modeOf({ userStories }: TaskList, { skipReview, only }: Skip): Mode {
  const is = (status: ReviewStatus): boolean =>
    userStories.some((story) => isMeant(story, only) && story.reviewStatus === status);
  if (!skipReview && is("changes_requested")) return "review-fix";
  return !skipReview && is("needs_review") ? "review" : "implement";
}

const WAITING: Record<Mode, ReviewStatus | null> = {
  implement: null,
  review: "needs_review",
  "review-fix": "changes_requested",
};

/** The story that an iteration of this mode should be about: the first by priority that waits for nothing else. */
export function nextStory(tasks: TaskList, mode: Mode, rules: Skip): Story | undefined {
  const open = openStories(tasks, rules);
  const isOpen = (id: string): boolean => open.some((story) => story.id === id);
  return open
    .filter(({ reviewStatus }) => rules.skipReview || reviewStatus === WAITING[mode])
    .filter(({ dependsOn = [] }) => mode !== "implement" || !dependsOn.some(isOpen))
    .sort((a, b) => a.priority - b.priority)[0];
}

export function openStories({ userStories }: TaskList, { skipReview, only }: Skip): Story[] {
  const isDone = ({ passes, reviewStatus }: Story): boolean =>
    passes && (skipReview || reviewStatus === "approved");
  return userStories.filter((story) => isMeant(story, only) && !isDone(story));
}

function isMeant({ id }: Story, only: string | undefined): boolean {
  return only === undefined || id === only;
}

/** Where a story stands, in a word. */
export type StoryState = "todo" | ReviewStatus | "passed";

export function stateOf({ passes, reviewStatus }: Story, { skipReview }: Skip): StoryState {
  return reviewStatus ?? (passes && skipReview ? "passed" : "todo");
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
  const old = new Map(before.userStories.map((story) => [story.id, stateOf(story, rules)]));
  return after.userStories.flatMap((story) => {
    const [from, to] = [old.get(story.id) ?? "todo", stateOf(story, rules)];
    if (from === to) return [];
    const { id, title, reviewCount: reviews, reviewFeedback: feedback } = story;
    const more = {
      ...(!rules.skipReview && { reviewCap: rules.reviewCap }),
      ...(isAtCap(story) && { atCap: true }),
      ...(feedback !== "" && { feedback }),
    };
    return [{ type: "state.changed", iteration, from, to, story: id, title, reviews, ...more }];
  });
}

const ITERATIONS: Record<StoryState, number> = {
  ...{ todo: 3, changes_requested: 2, needs_review: 1, approved: 0, passed: 0 },
};

/** About how many iterations are left: to implement, to review, and half of the time to mend and review again. */
export function iterationsLeft(tasks: TaskList, rules: Skip): number {
  const open = openStories(tasks, rules);
  return rules.skipReview
    ? open.length
    : open.reduce((sum, story) => sum + ITERATIONS[stateOf(story, rules)], 0);
}

/** What `.ralph-active` says of an iteration. The loop itself believes nothing that it reads there. */
export function activeText(
  { skipReview, reviewCap }: ReviewRules,
  iteration: { isShutIn?: boolean | undefined; mode: Mode; before: TaskList; maxIterations: number },
): string {
  const stories = iteration.before.userStories.map(({ id, passes, reviewStatus, reviewCount }) => {
    return [id, { passes, reviewStatus, reviewCount }] as const;
  });
  const payload = {
    ...{ timestamp: new Date().toISOString(), pid: process.pid, max_iterations: iteration.maxIterations },
    ...{ mode: iteration.isShutIn ? "sandbox" : "direct", skipReview, reviewCap },
    ...{ iterationMode: iteration.mode, preIterationSnapshot: Object.fromEntries(stories) },
  };
  return `${JSON.stringify(payload, null, 2)}\n`;
}

/** Where the stories stand; `spent`: what each of them took, where it is asked for. */
export function boardOf(
  tasks: TaskList,
  rules: ReviewRules,
  run: string | null,
  spent?: Map<string, StoryReport>,
) {
  const { project, branchName, userStories } = tasks;
  const open = openStories(tasks, rules);
  const mode = modeOf(tasks, rules);
  const stories = userStories.map((story) => {
    const { id, title, priority, reviewCount: reviews, dependsOn = [] } = story;
    const [state, done, atCap] = [stateOf(story, rules), !open.includes(story), isAtCap(story)];
    const own = { story: id, title, priority, state, done, reviews, atCap, dependsOn };
    const { iterations = 0, costUsd = null, durationMs = 0, violations = 0 } = spent?.get(id) ?? {};
    return { ...own, ...(spent && { iterations, costUsd, durationMs, violations }) };
  });
  return {
    ...{ v: 1 as const, project, branchName, stories },
    next: open.length === 0 ? null : { mode, story: nextStory(tasks, mode, rules)?.id ?? null },
    budget: { stories: open.length, iterations: iterationsLeft(tasks, rules) },
    ...{ reviewCap: rules.reviewCap, run },
  };
}
