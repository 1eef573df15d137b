import type {
  AgentEvent,
  AgentFinished,
  CheckFinished,
  FileChange,
  IterationFinished,
  Limits,
  LoopEvent,
  RunFinished,
  ScmFinished,
  StopReason,
} from "../../events.js";

/** What a run came to, for people and programs: `ralph report --json` prints it as it is. */
export interface Report {
  v: 1;
  run: string;
  recipe: string;
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
  iterations: IterationReport[];
}

export type RunStatus = "running" | "paused" | "crashed" | "finished";

export interface IterationReport {
  iteration: number;
  mode: string | null;
  startedAt: string;
  /** false: it is at work, or was cut off. */
  finished: boolean;
  passed: boolean;
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
  "run" | "recipe" | "agent" | "workspace" | "limits" | "startedAt" | "status"
>;

/** A fold over the events of a run. An iteration that was cut off and run again is one iteration. */
export function reportOf(start: ReportStart, events: Iterable<LoopEvent>): Report {
  const report = emptyReport(start);
  for (const event of events) {
    add(report, event);
    report.lastAt = event.ts;
  }
  return report;
}

/** Every check of a run by its command, in the order in which they first ran. */
export function checkCommands({ iterations }: Report): string[] {
  return [...new Set(iterations.flatMap(({ checks }) => checks.map(({ command }) => command)))];
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
    iterations: [],
  };
}

function add(report: Report, event: LoopEvent): void {
  switch (event.type) {
    case "run.resumed":
      Object.assign(report, {
        reason: null,
        exitCode: null,
        message: null,
        limits: event.limits ?? report.limits,
      });
      return;
    case "iteration.started":
      startIteration(report, event.iteration, event.mode ?? null, event.ts);
      return;
    case "agent.event":
      addSaid(current(report), event.event);
      return;
    case "agent.finished":
      addAgent(report, current(report), event);
      return;
    case "check.finished":
      current(report)?.checks.push(checkReport(event));
      return;
    case "scm.finished":
      current(report)?.scm.push({ task: event.task, passed: event.passed, message: event.message });
      return;
    case "iteration.finished":
      finishIteration(report, current(report), event);
      return;
    case "run.finished":
      finishRun(report, event);
      return;
    case "run.started":
    case "run.paused":
    case "agent.started":
    case "check.started":
    case "backoff.started":
      return;
  }
}

function current({ iterations }: Report): IterationReport | undefined {
  return iterations.at(-1);
}

/** After a crash the same iteration starts again: what was spent on it stays, what was found does not. */
function startIteration(
  { iterations }: Report,
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

function addSaid(iteration: IterationReport | undefined, event: AgentEvent): void {
  if (iteration === undefined) return;
  if (event.type === "tool_start") iteration.tools += 1;
  if (event.type === "tool_end" && event.isError) iteration.toolErrors += 1;
}

function addAgent(report: Report, iteration: IterationReport | undefined, event: AgentFinished): void {
  addSpent(report, event);
  if (iteration === undefined) return;
  addSpent(iteration, event);
  iteration.agentMs += event.durationMs;
  Object.assign(iteration, { error: event.error, finalMessage: event.finalMessage });
}

type Spent = Pick<AgentFinished, "costUsd" | "inputTokens" | "outputTokens">;

function addSpent(to: Spent, { costUsd, inputTokens, outputTokens }: Spent): void {
  if (costUsd !== null) to.costUsd = (to.costUsd ?? 0) + costUsd;
  to.inputTokens += inputTokens;
  to.outputTokens += outputTokens;
}

function checkReport(event: CheckFinished): CheckReport {
  const { command, passed, exitCode, signal, timedOut, durationMs, log, output } = event;
  return { command, passed, exitCode, signal, timedOut, durationMs, log, output };
}

/** The totals also hold what a crash cut off. */
function finishIteration(
  report: Report,
  iteration: IterationReport | undefined,
  event: IterationFinished,
): void {
  const { costUsd, inputTokens, outputTokens, activeMs } = event.totals;
  Object.assign(report, { costUsd, inputTokens, outputTokens, durationMs: activeMs });
  const { passed, reason, durationMs } = event;
  if (iteration !== undefined) Object.assign(iteration, { finished: true, passed, reason, durationMs });
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
}
