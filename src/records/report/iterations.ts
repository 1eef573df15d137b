import { sumOfCosts } from "../../cost.js";
import type { AgentFinished, CheckFinished, LoopEvent, ScmFinished, StateChanged } from "../../events.js";

/** What one iteration of a run came to. */
export interface IterationReport {
  iteration: number;
  mode: string | null;
  /** What it was planned to be about, such as a story. */
  about: string | null;
  /** Who was asked, as far as that is known. */
  agent: string | null;
  startedAt: string;
  /** false: it is at work, or was cut off. */
  finished: boolean;
  passed: boolean;
  /** Whether the agent said that it was done, right or wrong. */
  claimedDone: boolean;
  /** Why it passed or not, in a word or a line. */
  reason: string;
  durationMs: number;
  /** The agent's part of the time. */
  agentMs: number;
  costUsd: number | null;
  /** Set where a part of the cost is an estimate. */
  costEstimated?: boolean;
  inputTokens: number;
  outputTokens: number;
  /** The part of `inputTokens` that came from caches. */
  cacheReadTokens?: number;
  tools: number;
  toolErrors: number;
  /** Why the agent failed, or null. */
  error: string | null;
  finalMessage: string;
  checks: CheckReport[];
  scm: ScmReport[];
  /** What moved on, such as a story. */
  states: StateReport[];
  violations: ViolationReport[];
  /** Usage limits that were waited for. */
  waits: WaitReport[];
}

interface WaitReport {
  agent: string;
  /** ISO 8601, UTC. */
  from: string;
  until: string;
}

export type CheckReport = Pick<
  CheckFinished,
  "command" | "passed" | "exitCode" | "signal" | "timedOut" | "durationMs" | "log" | "why"
> & {
  output: string;
  /** Why it was not run, or null. */
  skipped: NonNullable<CheckFinished["skipped"]> | null;
  /** Which of the checks it is, from 1 on. */
  place: number;
};

interface StateReport extends Pick<StateChanged, "from" | "to"> {
  story: string | null;
  title: string | null;
  reviews: number | null;
  atCap: boolean;
}

export interface ViolationReport {
  what: string;
  story: string | null;
  file: string | null;
}

export type ScmReport = Pick<ScmFinished, "task" | "passed" | "message">;

/** A fold over the events of a run. One that was cut off and run again is one iteration. */
export function iterationsOf(events: Iterable<LoopEvent>): IterationReport[] {
  const iterations: IterationReport[] = [];
  for (const event of events) addToIterations(iterations, event);
  return iterations;
}

/** Takes one more event into them. */
export function addToIterations(iterations: IterationReport[], event: LoopEvent): void {
  if (event.type === "iteration.started") {
    startIteration(iterations, event.iteration, event, event.ts);
    return;
  }
  // What ran before the first one is the baseline.
  if (!("iteration" in event) || event.iteration === 0) return;
  const current = iterations.findLast(({ iteration }) => iteration === event.iteration);
  // Its first line may be damaged; what came after it counts.
  if (current === undefined) {
    startIteration(iterations, event.iteration, {}, event.ts);
    addToIterations(iterations, event);
    return;
  }
  switch (event.type) {
    case "agent.event":
      if (event.event.type === "tool_end" && event.event.isError) current.toolErrors += 1;
      return;
    case "agent.started":
      current.agent = event.agent;
      return;
    case "agent.finished":
      addAgent(current, event);
      return;
    case "check.finished":
      addCheck(current, event);
      return;
    case "scm.asked":
      addSpent(current, event.spent);
      return;
    case "scm.finished":
      current.scm.push({ task: event.task, passed: event.passed, message: event.message });
      return;
    case "state.changed": {
      const { from, to, story = null, title = null, reviews = null, atCap = false } = event;
      current.states.push({ from, to, story, title, reviews, atCap });
      return;
    }
    case "limit.waiting":
      addWait(current, { agent: event.agent, from: event.ts, until: event.until });
      return;
    case "violation":
      current.violations.push({ what: event.what, story: event.story ?? null, file: event.file ?? null });
      return;
    case "iteration.finished": {
      const { passed, claimedDone, reason, durationMs } = event;
      Object.assign(current, { finished: true, passed, claimedDone, reason, durationMs });
      return;
    }
    default:
      return;
  }
}

/** After a crash the same iteration starts again: what was spent on it stays, what was found does not. */
function startIteration(
  iterations: IterationReport[],
  iteration: number,
  { mode = null, about = null }: { mode?: string | null; about?: string | null },
  startedAt: string,
): void {
  const before = iterations.at(-1);
  if (before?.iteration === iteration) {
    Object.assign(before, { checks: [], scm: [], states: [], violations: [], mode, about });
    return;
  }
  iterations.push({
    iteration,
    mode,
    about,
    agent: null,
    startedAt,
    finished: false,
    passed: false,
    claimedDone: false,
    reason: "",
    durationMs: 0,
    agentMs: 0,
    costUsd: null,
    inputTokens: 0,
    outputTokens: 0,
    tools: 0,
    toolErrors: 0,
    error: null,
    finalMessage: "",
    checks: [],
    scm: [],
    states: [],
    violations: [],
    waits: [],
  });
}

/** A wait that goes on after a pause or a restart is the same one. */
function addWait({ waits }: IterationReport, wait: WaitReport): void {
  const before = waits.at(-1);
  if (before?.agent !== wait.agent || before.until !== wait.until) waits.push(wait);
}

function addAgent(iteration: IterationReport, event: AgentFinished): void {
  addSpent(iteration, event);
  iteration.agentMs += event.durationMs;
  iteration.tools += event.steps ?? 0;
  Object.assign(iteration, { error: event.error, finalMessage: event.finalMessage });
}

interface Spent {
  costUsd: number | null;
  costEstimated?: boolean;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
}

export function addSpent(to: Spent, from: Spent): void {
  if (from.costUsd !== null) to.costUsd = sumOfCosts(to.costUsd, from.costUsd);
  if (from.costEstimated) to.costEstimated = true;
  to.inputTokens += from.inputTokens;
  to.outputTokens += from.outputTokens;
  if (from.cacheReadTokens) to.cacheReadTokens = (to.cacheReadTokens ?? 0) + from.cacheReadTokens;
}

/** In the order of the settings, in whatever order they ended. */
function addCheck({ checks }: IterationReport, event: CheckFinished): void {
  const { command, passed, exitCode, signal, timedOut, durationMs, log } = event;
  const { output = "", skipped = null, place = checks.length + 1 } = event;
  const at = checks.findIndex((other) => (event.again ? other.place >= place : other.place > place));
  checks.splice(at === -1 ? checks.length : at, event.again ? 1 : 0, {
    ...{ command, passed, exitCode, signal, timedOut, durationMs, log },
    ...{ output, skipped, place },
    ...(event.why !== undefined && { why: event.why }),
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
