import { formatDuration } from "../duration.js";
import type { Outcome, StopReason } from "../events.js";
import type { CheckReport, IterationReport } from "../records/iteration.js";

/** How a check ended in an iteration. */
export interface CheckOutcome {
  /** The command. */
  name: string;
  passed: boolean;
  /** The end of what it printed; a last line says so where it timed out or was killed. */
  output: string;
  /** null where it was ended by a signal, or did not start. */
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
}

/** An iteration that was verified. */
export interface LoopIteration {
  /** From 1 on. */
  iteration: number;
  stepsTaken: number;
  /** In USD; 0 where the agent does not tell. */
  cost: number;
  /** In seconds, with the checks. */
  duration: number;
  checkResults: CheckOutcome[];
  allChecksPassed: boolean;
  /** Whether the agent said that it was done; false where no tag is asked for. */
  completionTagFound: boolean;
  /** Why the agent failed, or null. */
  error: string | null;
}

/** What a loop came to. */
export interface RalphLoopResult {
  iterations: LoopIteration[];
  totalIterations: number;
  /** In USD. */
  totalCost: number;
  /** In seconds. */
  totalDuration: number;
  success: boolean;
  /** `all_checks_passed`, or why it stopped without. */
  stopReason: StopReason;
  /** Empty without a worktree. */
  worktreePath: string;
}

export function resultOf(outcome: Outcome, iterations: IterationReport[]): RalphLoopResult {
  return {
    iterations: iterations.filter(({ finished }) => finished).map(iterationOf),
    totalIterations: outcome.iterations,
    totalCost: outcome.costUsd ?? 0,
    totalDuration: outcome.durationMs / 1000,
    success: outcome.success,
    stopReason: outcome.reason,
    worktreePath: outcome.worktree ?? "",
  };
}

function iterationOf(report: IterationReport): LoopIteration {
  const { iteration, checks, error } = report;
  return {
    iteration,
    stepsTaken: report.tools,
    cost: report.costUsd ?? 0,
    duration: report.durationMs / 1000,
    checkResults: checks.map(outcomeOf),
    allChecksPassed: checks.length > 0 && checks.every(({ passed }) => passed),
    completionTagFound: report.claimedDone,
    error,
  };
}

function outcomeOf(report: CheckReport): CheckOutcome {
  const { command, passed, output, exitCode, signal, timedOut, durationMs } = report;
  const cut = timedOut ? `Timeout: ended after ${formatDuration(durationMs)}` : signal && `Killed: ${signal}`;
  const said = cut ? `${output.trimEnd()}\n${cut}`.trimStart() : output;
  return { name: command, passed, output: said, exitCode, signal, timedOut };
}
