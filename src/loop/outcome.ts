import type { RunFinished, StopReason } from "../events.js";

/** How a run ended. */
export type Outcome = Omit<RunFinished, "type">;

const EXIT_CODES: Record<StopReason, number> = {
  completed: 0,
  all_checks_passed: 0,
  max_iterations: 1,
  budget_exhausted: 1,
  timeout: 1,
  agent_failed: 1,
  stuck: 1,
  gutter: 1,
  blocked: 1,
  violation: 1,
  error: 1,
  interrupted: 130,
};

export function exitCodeOf(reason: StopReason): number {
  return EXIT_CODES[reason];
}
