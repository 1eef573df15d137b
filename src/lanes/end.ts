import type { Outcome, StopReason } from "../events.js";
import { laneResults } from "../records/lanes.js";
import { type Lane, type RunState, spendingOf } from "../records/run-state.js";
import { exitCodeOf, isSuccess } from "../stop-reasons.js";

/** What the work of the lanes came to. */
export interface LanesEnding extends Pick<Outcome, "filesChanged" | "files" | "branch" | "worktree"> {
  /** Of a run that succeeds. */
  reason: StopReason;
  lanes?: Outcome["lanes"];
  /** What was not done, in a sentence. */
  missing?: string | undefined;
}

/** Of several lanes that did not succeed, the reason that is first in this list is that of the run. */
const FIRST: StopReason[] = [
  ...(["error", "budget_exhausted", "timeout", "max_iterations"] as const),
  ...(["blocked", "violation", "stuck", "agent_failed", "gutter"] as const),
];

/** How a run with several loops ended. */
export function endOf(
  state: RunState,
  {
    isDone,
    isStopped,
    reason: done,
    missing,
    ...ending
  }: LanesEnding & { isDone: boolean; isStopped: boolean },
): Outcome {
  const lanes = Object.entries(state.lanes ?? {});
  const reason = isDone ? done : isStopped ? "interrupted" : reasonOf(lanes.map(([, lane]) => lane));
  const failed = lanes.find(([, lane]) => reasonIn(lane) === reason);
  const { question, message: said } = failed?.[1].state ?? {};
  const why = failed && (failed[1].blocked ?? said);
  const words = [missing, ...(failed && why !== undefined ? [`${failed[0]}: ${why}`] : [])];
  const message = words.filter((text) => text !== undefined).join("; ");
  return {
    success: isSuccess(reason),
    reason,
    exitCode: exitCodeOf(reason),
    iterations: state.iterations,
    ...spendingOf(state),
    durationMs: Math.round(state.activeMs),
    ...ending,
    lanes: ending.lanes ?? laneResults(state),
    ...(!isSuccess(reason) && message !== "" && { message }),
    ...(reason === "blocked" && question && { question }),
  };
}

function reasonOf(lanes: Lane[]): StopReason {
  const reasons = new Set(lanes.map(reasonIn));
  return FIRST.find((reason) => reasons.has(reason)) ?? "error";
}

function reasonIn({ blocked, state }: Lane): StopReason | undefined {
  if (blocked !== undefined) return "blocked";
  return state.success ? undefined : (state.reason ?? undefined);
}
