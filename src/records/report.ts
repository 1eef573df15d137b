import type {
  BaselineCheck,
  FileChange,
  Limits,
  LoopEvent,
  Question,
  RunFinished,
  StopReason,
} from "../events.js";
import type { IterationReport, Spent } from "./iteration.js";
import {
  activeMsUntil,
  advance,
  initialState,
  type RunState,
  type RunStatus,
  spendingOf,
} from "./run-state.js";
import { type StoryReport, storiesOf } from "./stories.js";

/** What a run came to, for people and programs: `ralph report --json` prints it as it is. */
export interface Report extends Spent {
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
type Known = "run" | "recipe" | "task" | "agent" | "workspace" | "limits" | "startedAt" | "status";

/** What the events of a run add up to: the state after the last one, and every iteration. */
export function reportOf(start: Pick<Report, Known>, events: Iterable<LoopEvent>, now: Date): Report {
  const state = initialState(start.run);
  const iterations = iterationsOf(state, events);
  const { limits = start.limits, background, lastSeenAt, baseline = [] } = state;
  const end = state.reason === undefined ? undefined : state.finished;
  const isRunning = start.status === "running";
  const last = iterations.at(-1);
  if (end === undefined && last?.finished === false) {
    const until = isRunning ? now.getTime() : Date.parse(lastSeenAt);
    last.durationMs = Math.max(0, until - Date.parse(last.startedAt)) || 0;
  }
  return {
    v: 1,
    ...start,
    limits,
    lastAt: lastSeenAt || start.startedAt,
    ...endOf(end),
    ...spendingOf(state),
    durationMs: end?.durationMs ?? Math.round(activeMsUntil(now.getTime(), state, isRunning)),
    ...workOf(state),
    ...(background && { background }),
    baseline: baseline.map(({ command, before, now: passes }) => ({ command, before, now: passes })),
    iterations,
    stories: storiesOf(iterations),
  };
}

function endOf(end: Partial<RunFinished> = {}) {
  const { reason = null, success = false, exitCode = null } = end;
  const { message = null, question = null, limit = null, final = false } = end;
  return { reason, success, exitCode, message, question, limit, final };
}

/** A run that was resumed still has the work of before. */
function workOf({ finished }: RunState) {
  const { filesChanged = null, files = [], worktree = null, unsettled = null } = finished ?? {};
  return { filesChanged, files, worktree, unsettled };
}

/** Takes the events into the state and returns the iterations that they were about. */
export function iterationsOf(state: RunState, events: Iterable<LoopEvent>): IterationReport[] {
  const iterations: IterationReport[] = [];
  for (const event of events) {
    const { iteration } = advance(state, event);
    if (iteration !== undefined && iteration !== iterations.at(-1)) iterations.push(iteration);
  }
  return iterations;
}

/** Every check of a run by its command, in the order in which they first ran. */
export function checkCommands({ baseline, iterations }: Report): string[] {
  const all = [...baseline, ...iterations.flatMap(({ checks }) => checks)].map(({ command }) => command);
  return [...new Set(all)].slice(0, MAX_CHECKS);
}

/** More than that is no list that anybody reads. */
const MAX_CHECKS = 100;

/** Iterations that were verified. */
export function finishedIterations({ iterations }: Report): number {
  return iterations.filter(({ finished }) => finished).length;
}
