/** What each reason to stop a run means. Adding a reason is one row here and one in docs/done.md. */
interface StopRow {
  /** Of `ralph run` and the other commands; a recipe that only counts iterations ends with 0 at its limit. */
  exitCode: number;
  /** What it is called in a summary. */
  title: string;
  /** Whether the run has done what it was asked to. */
  success: boolean;
  /** Status of a worker whose loop stopped so; null: as it was set by whoever ended the loop. */
  worker: "stopped" | "failed" | null;
  /**
   * What a resumed run makes of it. `over`: the decision stands until the run is closed. `look`: limits may have
   * been raised or a question answered, so the loop decides again. `retry`: failures are counted from 0 again.
   */
  resume: "over" | "look" | "retry";
  /** The flags that raise the limit, behind `ralph resume RUN`. */
  raise?: string;
}

const failed = { exitCode: 1, success: false, worker: "failed", resume: "over" } as const;
const completed = { exitCode: 0, success: true, worker: "stopped", resume: "over" } as const;

export const STOP_REASONS = {
  completed: { ...completed, title: "Completed" },
  /** The same, as `ralph loop` calls it. */
  all_checks_passed: { ...completed, title: "Completed: all checks passed" },
  max_iterations: {
    ...failed,
    title: "Stopped: the maximum number of iterations was reached",
    resume: "look",
    raise: " --max-iterations N",
  },
  budget_exhausted: {
    ...failed,
    title: "Stopped: the budget is exhausted",
    resume: "look",
    raise: " --max-cost USD (or --max-tokens N)",
  },
  timeout: { ...failed, title: "Stopped: the time is up", resume: "look", raise: " --max-time DURATION" },
  agent_failed: { ...failed, title: "Stopped: the agent failed", resume: "retry" },
  stuck: { ...failed, title: "Stopped: stuck, the same failure again and again", resume: "retry" },
  gutter: { ...failed, title: "Stopped: the gate failed too many times" },
  blocked: { ...failed, title: "Stopped: the agent needs an answer", resume: "look" },
  violation: { ...failed, title: "Stopped: the agent broke the rules" },
  interrupted: { ...failed, title: "Interrupted", exitCode: 130, worker: null },
  error: { ...failed, title: "Stopped by an error" },
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

/** For a loop that was told to go round so many times, and nothing else. */
const ALL_ITERATIONS = "Done: as many iterations as were asked for, and nothing was verified";

export function titleOfReason(reason: StopReason, exitCode: number | null = null): string {
  if (reason === "max_iterations" && exitCode === 0) return ALL_ITERATIONS;
  return stopRow(reason)?.title ?? `Stopped: ${reason}`;
}

export function exitCodeOf(reason: StopReason): number {
  return STOP_REASONS[reason].exitCode;
}
