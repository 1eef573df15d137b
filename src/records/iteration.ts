import { sumOfCosts } from "../agents/spending.js";
import type {
  CheckFinished,
  IterationFinished,
  LoopEvent,
  ScmFinished,
  StateChanged,
  Totals,
  Violation,
} from "../events.js";

/** What calls of agents took. */
export type Spent = Pick<
  Totals,
  "costUsd" | "costEstimated" | "inputTokens" | "outputTokens" | "cacheReadTokens"
>;

/** The result of one iteration. */
export interface IterationReport
  extends Spent,
    Pick<IterationFinished, "iteration" | "passed" | "claimedDone" | "durationMs"> {
  /** The lane that it was in, where the run has several. */
  lane?: string;
  mode: string | null;
  /** What it was planned to be about, such as a story. */
  about: string | null;
  /** Who was asked, as far as that is known. */
  agent: string | null;
  startedAt: string;
  /** false: it is still running, or was cut off. */
  finished: boolean;
  /** Its loop has ended without it. */
  cutOff?: boolean;
  /** Why it passed or not, in a word or a line. */
  reason: string;
  /** The agent's part of the time. */
  agentMs: number;
  tools: number;
  toolErrors: number;
  /** Why the agent failed, or null. */
  error: string | null;
  finalMessage: string;
  checks: CheckReport[];
  scm: Pick<ScmFinished, "task" | "passed" | "message">[];
  /** What moved on, such as a story. */
  states: (OrNull<StateChanged, "story" | "title" | "reviews"> &
    Required<Pick<StateChanged, "from" | "to" | "atCap">>)[];
  violations: (OrNull<Violation, "story" | "file"> & Pick<Violation, "what">)[];
  /** Usage limits that were waited for. */
  waits: { agent: string; from: string; until: string }[];
}

/** Fields of an event, null where it has none. */
export type OrNull<Event, Field extends keyof Event> = { [Name in Field]-?: NonNullable<Event[Name]> | null };

export type CheckReport = Pick<
  CheckFinished,
  | "name"
  | "command"
  | "hidden"
  | "passed"
  | "exitCode"
  | "signal"
  | "timedOut"
  | "durationMs"
  | "log"
  | "why"
  | "flaky"
> & {
  output: string;
  /** Why it was not run, or null. */
  skipped: NonNullable<CheckFinished["skipped"]> | null;
  /** Which of the checks it is, from 1 on. */
  place: number;
};

/**
 * Takes one more event into the iteration that it belongs to. Changes that iteration in place; where another one
 * begins, the result is a new object. An iteration that was cut off and run again is one iteration.
 */
export function advanceIteration(
  before: IterationReport | undefined,
  event: LoopEvent,
): IterationReport | undefined {
  // The checks of the baseline run before the first iteration.
  if (!("iteration" in event) || event.iteration === 0 || event.iteration < (before?.iteration ?? 0))
    return before;
  // The line that began it may be damaged: what came after it counts.
  const current = before?.iteration === event.iteration ? before : begun(event);
  switch (event.type) {
    case "iteration.started": {
      const { mode = null, about = null } = event;
      // After a crash the same iteration starts again: what was spent on it stays, what was found does not.
      return Object.assign(current, { checks: [], scm: [], states: [], violations: [], mode, about });
    }
    case "agent.event":
      if (event.event.type === "tool_end" && event.event.isError) current.toolErrors += 1;
      return current;
    case "agent.started":
      return Object.assign(current, { agent: event.agent });
    case "agent.finished":
      addSpent(current, event);
      current.agentMs += event.durationMs;
      current.tools += event.steps ?? 0;
      return Object.assign(current, { error: event.error, finalMessage: event.finalMessage });
    case "check.finished":
      addCheck(current, event);
      return current;
    case "scm.asked":
      addSpent(current, event.spent);
      return current;
    case "scm.finished":
      current.scm.push({ task: event.task, passed: event.passed, message: event.message });
      return current;
    case "state.changed": {
      const { from, to, story = null, title = null, reviews = null, atCap = false } = event;
      current.states.push({ from, to, story, title, reviews, atCap });
      return current;
    }
    case "limit.waiting":
      // A wait that goes on after a pause or a restart is the same one.
      if (current.waits.at(-1)?.agent !== event.agent || current.waits.at(-1)?.until !== event.until)
        current.waits.push({ agent: event.agent, from: event.ts, until: event.until });
      return current;
    case "violation":
      current.violations.push({ what: event.what, story: event.story ?? null, file: event.file ?? null });
      return current;
    case "iteration.finished": {
      const { passed, claimedDone, reason, durationMs } = event;
      return Object.assign(current, { finished: true, passed, claimedDone, reason, durationMs });
    }
    default:
      return current;
  }
}

function begun(event: LoopEvent & { iteration: number }): IterationReport {
  const { iteration, ts: startedAt, lane } = event;
  return {
    ...(lane !== undefined && { lane }),
    ...{ iteration, mode: null, about: null, agent: null, startedAt },
    ...{ finished: false, passed: false, claimedDone: false, reason: "", durationMs: 0, agentMs: 0 },
    ...{ costUsd: null, inputTokens: 0, outputTokens: 0 },
    ...{ tools: 0, toolErrors: 0, error: null, finalMessage: "" },
    ...{ checks: [], scm: [], states: [], violations: [], waits: [] },
  };
}

/** Adds what a call took to what was spent before. */
export function addSpent(to: Spent, from: Spent): void {
  if (from.costUsd !== null) to.costUsd = sumOfCosts(to.costUsd, from.costUsd);
  if (from.costEstimated) to.costEstimated = true;
  to.inputTokens += from.inputTokens;
  to.outputTokens += from.outputTokens;
  if (from.cacheReadTokens) to.cacheReadTokens = (to.cacheReadTokens ?? 0) + from.cacheReadTokens;
}

/** In the order of the settings. */
function addCheck({ checks }: IterationReport, event: CheckFinished): void {
  const { command, passed, exitCode, signal, timedOut, durationMs, log } = event;
  const { output = "", skipped = null, place = checks.length + 1 } = event;
  const at = checks.findIndex((other) => (event.again ? other.place >= place : other.place > place));
  checks.splice(at === -1 ? checks.length : at, event.again ? 1 : 0, {
    ...{ command, passed, exitCode, signal, timedOut, durationMs, log },
    ...{ output, skipped, place },
    ...(event.name !== undefined && { name: event.name }),
    ...(event.hidden && { hidden: event.hidden }),
    ...(event.why !== undefined && { why: event.why }),
    ...(event.flaky !== undefined && { flaky: event.flaky }),
  });
}

/** One that was not run has not failed. */
export function hasFailed({ passed, skipped }: CheckReport): boolean {
  return !passed && skipped === null;
}

/** Whether nothing is known of it in this iteration; one whose inputs are unchanged has passed. */
export function wasNotRun({ skipped }: CheckReport): boolean {
  return skipped === "after_failure" || skipped === "untrusted";
}
