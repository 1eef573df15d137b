/** What each reason to stop a run means. Adding a reason is one row here and one in docs/reference/done.md. */
interface StopRow {
  /** Of `ralph run` and the other commands; a recipe that only counts iterations ends with 0 at its limit. */
  exitCode: number;
  /** What it is called in a summary. */
  title: string;
  /** How the run ended, in lists and filters. */
  result: string;
  /** Whether the run has done what it was asked to. */
  success: boolean;
  /** Status of a worker whose loop stopped so; null: the command that ended the loop has set it. */
  worker: "stopped" | "failed" | null;
  /** For a resume. `over`: it ends the same way. `look`: it decides again. `retry`: failures count from 0. */
  resume: "over" | "look" | "retry";
  /** The flags that raise the limit, behind `ralph resume RUN`. */
  raise?: string;
}

const failed = { exitCode: 1, success: false, worker: "failed", resume: "over" } as const;
const completed = { exitCode: 0, success: true, result: "done", worker: "stopped", resume: "over" } as const;

export const STOP_REASONS = {
  completed: { ...completed, title: "Completed" },
  /** The same, as `ralph loop` calls it. */
  all_checks_passed: { ...completed, title: "Completed: all checks passed" },
  max_iterations: {
    ...failed,
    title: "Stopped: the maximum number of iterations was reached",
    result: "stopped: iterations",
    resume: "look",
    raise: " --max-iterations N",
  },
  budget_exhausted: {
    ...failed,
    title: "Stopped: the budget is exhausted",
    result: "stopped: cost",
    resume: "look",
    raise: " --max-cost USD (or --max-tokens N)",
  },
  timeout: {
    ...failed,
    title: "Stopped: the time is up",
    result: "stopped: time",
    resume: "look",
    raise: " --max-time DURATION",
  },
  agent_failed: { ...failed, title: "Stopped: the agent failed", result: "failed: agent", resume: "retry" },
  stuck: {
    ...failed,
    title: "Stopped: stuck, the same failure again and again",
    result: "stuck",
    resume: "retry",
  },
  gutter: { ...failed, title: "Stopped: the gate failed too many times", result: "failed: checks" },
  blocked: {
    ...failed,
    title: "Stopped: the agent needs an answer",
    result: "blocked: question",
    resume: "look",
  },
  violation: { ...failed, title: "Stopped: the agent broke the rules", result: "violation" },
  interrupted: { ...failed, title: "Interrupted by you", result: "interrupted", exitCode: 130, worker: null },
  error: { ...failed, title: "Stopped by an error", result: "error" },
} satisfies Record<string, StopRow>;

export type StopReason = keyof typeof STOP_REASONS;

/** undefined: none, or a reason of a later release. */
export function stopRow(reason: StopReason | null | undefined): StopRow | undefined {
  return reason != null && Object.hasOwn(STOP_REASONS, reason) ? STOP_REASONS[reason] : undefined;
}

/** Whether a run that stopped for this reason has done what it was asked to. */
export function isSuccess(reason: StopReason | null | undefined): boolean {
  return stopRow(reason)?.success === true;
}

export function titleOfReason(reason: StopReason): string {
  return stopRow(reason)?.title ?? `Stopped: ${reason}`;
}

export function exitCodeOf(reason: StopReason): number {
  return STOP_REASONS[reason].exitCode;
}
