import type {
  AgentFinished,
  CheckFinished,
  FileChange,
  Limits,
  LoopEvent,
  RunFinished,
  ScmFinished,
  StopReason,
} from "../../events.js";
import type { RunStatus } from "../../state/run-status.js";

/** What a run came to, for people and programs: `ralph report --json` prints it as it is. */
export interface Report {
  v: 1;
  run: string;
  recipe: string;
  /** What it was asked to do, or the file that says it. */
  task: string;
  agent: string;
  workspace: string;
  limits: Limits;
  startedAt: string;
  /** When the last thing was recorded. */
  lastAt: string;
  status: RunStatus;
  /** null as long as the run is not finished. */
  reason: StopReason | null;
  success: boolean;
  exitCode: number | null;
  message: string | null;
  costUsd: number | null;
  inputTokens: number;
  outputTokens: number;
  durationMs: number;
  filesChanged: number | null;
  files: FileChange[];
  /** Its own worktree, if it had one. */
  worktree: string | null;
  /** What of its work is not on the branch of the worktree, and why. */
  unsettled: string | null;
  iterations: IterationReport[];
}

export interface IterationReport {
  iteration: number;
  mode: string | null;
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
  inputTokens: number;
  outputTokens: number;
  tools: number;
  toolErrors: number;
  /** Why the agent failed, or null. */
  error: string | null;
  finalMessage: string;
  checks: CheckReport[];
  scm: ScmReport[];
}

export type CheckReport = Pick<
  CheckFinished,
  "command" | "passed" | "exitCode" | "signal" | "timedOut" | "durationMs" | "log"
> & { output: string };

export type ScmReport = Pick<ScmFinished, "task" | "passed" | "message">;

/** What is known of a run before its first event. */
export type ReportStart = Pick<
  Report,
  "run" | "recipe" | "task" | "agent" | "workspace" | "limits" | "startedAt" | "status"
>;

/** A fold over the events of a run. An iteration that was cut off and run again is one iteration. */
export function reportOf(start: ReportStart, events: Iterable<LoopEvent>, now: Date): Report {
  const report = emptyReport(start);
  for (const event of events) {
    addToRun(report, event);
    addToIterations(report.iterations, event);
    report.lastAt = event.ts;
  }
  return report.reason === null ? withTimeSoFar(report, now) : report;
}

/** An iteration that is at work or was cut off has taken its time all the same. */
function withTimeSoFar(report: Report, now: Date): Report {
  const last = report.iterations.at(-1);
  if (last === undefined || last.finished) return report;
  const until = report.status === "running" ? now.getTime() : Date.parse(report.lastAt);
  last.durationMs = Math.max(0, until - Date.parse(last.startedAt)) || 0;
  report.durationMs += last.durationMs;
  return report;
}

/** The same for the iterations alone. */
export function iterationsOf(events: Iterable<LoopEvent>): IterationReport[] {
  const iterations: IterationReport[] = [];
  for (const event of events) addToIterations(iterations, event);
  return iterations;
}

/** Every check of a run by its command, in the order in which they first ran. */
export function checkCommands({ iterations }: Report): string[] {
  const all = new Set(iterations.flatMap(({ checks }) => checks.map(({ command }) => command)));
  return [...all].slice(0, MAX_CHECKS);
}

/** More than that is no list that anybody reads. */
const MAX_CHECKS = 100;

/** Iterations that were verified. */
export function finishedIterations({ iterations }: Report): number {
  return iterations.filter(({ finished }) => finished).length;
}

function emptyReport(start: ReportStart): Report {
  return {
    v: 1,
    ...start,
    lastAt: start.startedAt,
    reason: null,
    success: false,
    exitCode: null,
    message: null,
    costUsd: null,
    inputTokens: 0,
    outputTokens: 0,
    durationMs: 0,
    filesChanged: null,
    files: [],
    worktree: null,
    unsettled: null,
    iterations: [],
  };
}

function addToRun(report: Report, event: LoopEvent): void {
  switch (event.type) {
    case "run.resumed":
      Object.assign(report, {
        reason: null,
        exitCode: null,
        message: null,
        limits: event.limits ?? report.limits,
      });
      return;
    case "agent.finished":
      addSpent(report, event);
      return;
    case "iteration.finished": {
      // The totals also hold what a crash cut off.
      const { costUsd, inputTokens, outputTokens, activeMs } = event.totals;
      Object.assign(report, { costUsd, inputTokens, outputTokens, durationMs: activeMs });
      return;
    }
    case "run.finished":
      finishRun(report, event);
      return;
    default:
      return;
  }
}

function addToIterations(iterations: IterationReport[], event: LoopEvent): void {
  if (event.type === "iteration.started") {
    startIteration(iterations, event.iteration, event.mode ?? null, event.ts);
    return;
  }
  if (!("iteration" in event)) return;
  const current = iterations.findLast(({ iteration }) => iteration === event.iteration);
  // Its first line may be damaged; what came after it counts.
  if (current === undefined) {
    startIteration(iterations, event.iteration, null, event.ts);
    addToIterations(iterations, event);
    return;
  }
  switch (event.type) {
    case "agent.event":
      if (event.event.type === "tool_end" && event.event.isError) current.toolErrors += 1;
      return;
    case "agent.finished":
      addAgent(current, event);
      return;
    case "check.finished":
      current.checks.push(checkReport(event));
      return;
    case "scm.finished":
      current.scm.push({ task: event.task, passed: event.passed, message: event.message });
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
  mode: string | null,
  startedAt: string,
): void {
  const before = iterations.at(-1);
  if (before?.iteration === iteration) {
    Object.assign(before, { checks: [], scm: [], mode });
    return;
  }
  iterations.push({
    iteration,
    mode,
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
  });
}

function addAgent(iteration: IterationReport, event: AgentFinished): void {
  addSpent(iteration, event);
  iteration.agentMs += event.durationMs;
  iteration.tools += event.steps ?? 0;
  Object.assign(iteration, { error: event.error, finalMessage: event.finalMessage });
}

type Spent = Pick<AgentFinished, "costUsd" | "inputTokens" | "outputTokens">;

function addSpent(to: Spent, { costUsd, inputTokens, outputTokens }: Spent): void {
  if (costUsd !== null) to.costUsd = (to.costUsd ?? 0) + costUsd;
  to.inputTokens += inputTokens;
  to.outputTokens += outputTokens;
}

function checkReport(event: CheckFinished): CheckReport {
  const { command, passed, exitCode, signal, timedOut, durationMs, log, output = "" } = event;
  return { command, passed, exitCode, signal, timedOut, durationMs, log, output };
}

function finishRun(report: Report, event: RunFinished): void {
  const { success, reason, exitCode, costUsd, inputTokens, outputTokens, durationMs, filesChanged } = event;
  Object.assign(report, {
    success,
    reason,
    exitCode,
    costUsd,
    inputTokens,
    outputTokens,
    durationMs,
    filesChanged,
  });
  report.message = event.message ?? null;
  report.files = event.files ?? [];
  report.worktree = event.worktree ?? null;
  report.unsettled = event.unsettled ?? null;
}
