import type { BaselineCheck, Outcome, StopReason } from "../events.js";
import { laneResults } from "../records/lanes.js";
import { witnessOf } from "../records/result.js";
import { type Lane, type RunState, spendingOf } from "../records/run-state.js";
import { exitCodeOf, isSuccess } from "../stop-reasons.js";

/** The result of the lanes. */
export interface LanesEnding
  extends Pick<Outcome, "filesChanged" | "files" | "branch" | "worktree" | "baseline"> {
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
  known: LanesEnding & { isDone: boolean; isStopped: boolean },
): Outcome {
  const { isDone, isStopped, reason: done, missing, ...ending } = known;
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
    ...baselineOf(lanes.map(([, lane]) => lane)),
    ...ending,
    lanes: ending.lanes ?? laneResults(state),
    ...(!isSuccess(reason) && message !== "" && { message }),
    ...(reason === "blocked" && question && { question }),
  };
}

/** A check that fails in one lane fails. */
function baselineOf(lanes: Lane[]): Pick<Outcome, "baseline"> {
  const all = new Map<string, BaselineCheck>();
  for (const one of lanes.flatMap(({ state }) => state.finished?.baseline ?? [])) {
    const { before = true, now = true } = all.get(one.command) ?? {};
    const both = { before: before && one.before, now: now && one.now };
    all.set(one.command, { command: one.command, ...both, witness: witnessOf(both) });
  }
  return all.size === 0 ? {} : { baseline: [...all.values()] };
}

function reasonOf(lanes: Lane[]): StopReason {
  const reasons = new Set(lanes.map(reasonIn));
  return FIRST.find((reason) => reasons.has(reason)) ?? "error";
}

function reasonIn({ blocked, state }: Lane): StopReason | undefined {
  if (blocked !== undefined) return "blocked";
  return state.success ? undefined : (state.reason ?? undefined);
}
