import { formatDuration } from "../duration.js";
import type { Limits, StopReason } from "../events.js";
import type { RunState } from "../records/run-state.js";
import { formatCost, formatCount } from "./figures.js";

type Spent = Pick<RunState, "iterations" | "costUsd" | "inputTokens" | "outputTokens" | "activeMs">;

/** What a run has used of the limit that it has reached: `$0.10 of $0.05 was spent`. */
export function spentOf(spent: Spent, limits: Limits, reached: StopReason): string {
  const { maxIterations, maxCostUsd, maxTokens, maxTimeMs } = limits;
  const costUsd = spent.costUsd ?? 0;
  if (reached === "max_iterations") return `${spent.iterations} of ${maxIterations} iterations were run`;
  if (reached === "timeout")
    return `${formatDuration(spent.activeMs)} of ${formatDuration(maxTimeMs ?? 0)} were used`;
  if (maxCostUsd !== null && costUsd >= maxCostUsd)
    return `${formatCost(costUsd)} of ${formatCost(maxCostUsd)} was spent`;
  const tokens = spent.inputTokens + spent.outputTokens;
  return `${formatCount(tokens)} of ${formatCount(maxTokens ?? 0)} tokens were used`;
}
