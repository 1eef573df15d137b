import { z } from "zod";
import type { Json, StateChanged, Violation } from "../../events.js";
import type { Verdict } from "../../loop/recipe.js";
import { saysPromise } from "../../verify/done.js";
import { asJson, type Failure, failuresIn, likeness, likenessOf, namesOf } from "../../verify/failure.js";
import type { Ending, TurnResult } from "./end-turn.js";
import { type Mode, modeOf, nextStory, openStories, type ReviewRules } from "./state.js";
import type { TaskList } from "./tasks.js";

/** Iterations in a row that break the rules before the run is given up. */
const MAX_VIOLATIONS = 3;

const Memory = z.object({
  /** What the agent did that it may not do, or left undone. */
  told: z.array(z.string()).catch([]),
  /** Iterations in a row in which it broke the rules. */
  violations: z.number().catch(0),
  /** Why the agent failed, if it did. */
  error: z.string().nullable().catch(null),
});

/** What an iteration leaves behind for the next one. */
export interface LastTime extends z.infer<typeof Memory> {
  /** Verify commands that failed when they were last run. */
  failures: Failure[];
  failing: string[];
  /** false: nothing of this run was verified before. */
  isKnown: boolean;
}

export function lastTime(memory: Json | undefined): LastTime {
  const found = typeof memory === "object" && memory !== null && !Array.isArray(memory) ? memory : {};
  const failures = failuresIn(found["failures"]);
  const failing = failures.map(({ command }) => command);
  return { ...Memory.parse(found), failures, failing, isKnown: memory !== undefined };
}

/** What became of an iteration. */
interface Result extends Ending, TurnResult {
  mode: Mode;
  changes: StateChanged[];
  last: LastTime;
}

export async function verdictOf(result: Result, rules: ReviewRules): Promise<Verdict> {
  const { answer, asks, after, failures, broken } = result;
  const claimedDone = saysPromise(answer.finalMessage, "COMPLETE");
  const open = openStories(after, rules).length;
  const allDone = `all stories are ${rules.skipReview ? "passed" : "approved"} (${after.userStories.length})`;
  if (open === 0 && result.uncommitted.length === 0)
    return { passed: true, reason: allDone, claimedDone, stop: "completed" };
  const memory = remember(result, open, claimedDone);
  const { told, violations } = memory;
  const given = { passed: false, claimedDone, memory };
  const blocked = asks || failures.length === 0 ? undefined : outOfReviews(after, rules);
  if (blocked !== undefined) return { ...given, reason: blocked, stop: "blocked" };
  if (violations > 0) {
    const reason = open === 0 ? `${allDone}, but not everything is committed` : rulesBroken(broken);
    const stop = violations >= MAX_VIOLATIONS && !asks && { stop: "violation" as const };
    return { ...given, reason, ...stop, failure: await likeness(told) };
  }
  const wrong = whatIsMissing(result, claimedDone ? open : 0);
  if (wrong === undefined) return { ...given, passed: true, reason: moved(result.changes) };
  return { ...given, reason: wrong, failure: await likeness([wrong, ...failures.map(likenessOf)]) };
}

function remember(result: Result, open: number, claimedDone: boolean) {
  const { answer, failures, broken, meddled, uncommitted, last } = result;
  const told = [...broken, ...meddled, ...uncommitted].map(({ what }) => what);
  const stories = open === 1 ? "1 story is" : `${open} stories are`;
  if (open > 0 && claimedDone)
    told.push(`<promise>COMPLETE</promise> was said, and it was not true: ${stories} not done.`);
  // A run that was given up and is resumed has another chance.
  const inARow = last.violations >= MAX_VIOLATIONS ? 0 : last.violations;
  const violations = broken.length > 0 || open === 0 ? inARow + 1 : 0;
  return { told, violations, failures: asJson(failures), error: answer.error };
}

function rulesBroken(broken: Violation[]): string {
  const subjects = new Set(broken.map(({ story, file }) => story ?? file ?? ""));
  return `the agent broke the rules: ${[...subjects].join(", ")}`;
}

/** Work whose checks fail cannot be approved, and no review is left that could ask for more. */
function outOfReviews(tasks: TaskList, rules: ReviewRules): string | undefined {
  const story = modeOf(tasks, rules) === "review" ? nextStory(tasks, "review", rules) : undefined;
  if (story === undefined || story.reviewCount <= rules.reviewCap) return undefined;
  return `${story.id} was reviewed ${story.reviewCount} times and its verify commands failed: it needs you`;
}

function whatIsMissing(result: Result, open: number): string | undefined {
  const { failures, changes, mode, uncommitted, after } = result;
  if (failures.length > 0 && mode !== "review") return `verify commands failed: ${namesOf(failures)}`;
  if (open > 0) return `claimed to be done, but ${open} of ${after.userStories.length} stories are not`;
  if (changes.length === 0)
    return mode === "implement" ? "no story was finished" : "the feedback is still open";
  return uncommitted.length > 0 ? `${moved(changes)}; not everything is committed` : undefined;
}

/** `US-001 is approved (review 2)` */
function moved(changes: StateChanged[]): string {
  const words: Record<string, (reviews: number) => string> = {
    needs_review: () => "waits for its review",
    changes_requested: (reviews) => `needs changes (review ${reviews})`,
    approved: (reviews) => `is approved (review ${reviews})`,
  };
  return changes
    .map(({ story, to, reviews = 0 }) => `${story} ${words[to]?.(reviews) ?? `is ${to}`}`)
    .join(", ");
}
