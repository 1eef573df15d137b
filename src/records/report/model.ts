import type {
  BaselineCheck,
  FileChange,
  Limits,
  LoopEvent,
  Question,
  RunFinished,
  StopReason,
  Totals,
} from "../../events.js";
import type { RunStatus } from "../run-status.js";
import { addSpent, addToIterations, type IterationReport } from "./iterations.js";
import { type StoryReport, storiesOf } from "./stories.js";

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
  /** What the agent wants to know from a human, when it is blocked. */
  question: Question | null;
  /** A limit that has to be raised to go on, though the run has ended for another reason. */
  limit: StopReason | null;
  /** Whether nothing can go on with it. */
  final: boolean;
  costUsd: number | null;
  /** Set where a part of the cost is an estimate. */
  costEstimated?: boolean;
  inputTokens: number;
  outputTokens: number;
  /** The part of `inputTokens` that came from caches. */
  cacheReadTokens?: number;
  durationMs: number;
  filesChanged: number | null;
  files: FileChange[];
  /** Its own worktree, if it had one. */
  worktree: string | null;
  /** Set when what agents and checks left running was left alone. */
  background?: "keep";
  /** What of its work is not on the branch of the worktree, and why. */
  unsettled: string | null;
  /** The checks before the first iteration and now; empty without `--baseline`. */
  baseline: BaselineCheck[];
  iterations: IterationReport[];
  /** What each story took, where the run worked on stories. */
  stories: StoryReport[];
}

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
  if (report.reason === null) addTimeSoFar(report, now);
  report.stories = storiesOf(report.iterations);
  return report;
}

/** An iteration that is at work or was cut off has taken its time all the same. */
function addTimeSoFar(report: Report, now: Date): void {
  const last = report.iterations.at(-1);
  if (last === undefined || last.finished) return;
  const until = report.status === "running" ? now.getTime() : Date.parse(report.lastAt);
  last.durationMs = Math.max(0, until - Date.parse(last.startedAt)) || 0;
  report.durationMs += last.durationMs;
}

/** Every check of a run by its command, in the order in which they first ran. */
export function checkCommands({ baseline, iterations }: Report): string[] {
  const before = baseline.map(({ command }) => command);
  const all = new Set([
    ...before,
    ...iterations.flatMap(({ checks }) => checks.map(({ command }) => command)),
  ]);
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
    question: null,
    limit: null,
    final: false,
    costUsd: null,
    inputTokens: 0,
    outputTokens: 0,
    durationMs: 0,
    filesChanged: null,
    files: [],
    worktree: null,
    unsettled: null,
    baseline: [],
    iterations: [],
    stories: [],
  };
}

function addToRun(report: Report, event: LoopEvent): void {
  switch (event.type) {
    case "run.started":
      if (event.background !== undefined) report.background = event.background;
      return;
    case "run.resumed":
      Object.assign(report, {
        reason: null,
        exitCode: null,
        message: null,
        question: null,
        limit: null,
        final: false,
        limits: event.limits ?? report.limits,
      });
      return;
    case "agent.finished":
      addSpent(report, event);
      return;
    case "scm.asked":
      addSpent(report, event.spent);
      return;
    case "baseline.finished":
      report.baseline = event.checks.map(({ command, before, now }) => ({ command, before, now }));
      return;
    case "iteration.finished": {
      report.baseline = event.baseline ?? report.baseline;
      // The totals also hold what a crash cut off.
      Object.assign(report, { ...spentIn(event.totals), durationMs: event.totals.activeMs });
      return;
    }
    case "run.finished":
      finishRun(report, event);
      return;
    default:
      return;
  }
}

function spentIn({
  costUsd,
  costEstimated,
  inputTokens,
  outputTokens,
  cacheReadTokens,
}: RunFinished | Totals) {
  return {
    ...{ costUsd, inputTokens, outputTokens },
    ...(costEstimated && { costEstimated }),
    ...(cacheReadTokens && { cacheReadTokens }),
  };
}

function finishRun(report: Report, event: RunFinished): void {
  const { success, reason, exitCode, durationMs, filesChanged } = event;
  Object.assign(report, { success, reason, exitCode, ...spentIn(event), durationMs, filesChanged });
  report.baseline = event.baseline ?? report.baseline;
  report.message = event.message ?? null;
  report.question = event.question ?? null;
  report.limit = event.limit ?? null;
  report.final = event.final ?? false;
  report.files = event.files ?? [];
  report.worktree = event.worktree ?? null;
  report.unsettled = event.unsettled ?? null;
}
