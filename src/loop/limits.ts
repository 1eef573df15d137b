import type { Limits, StopReason } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { Remaining } from "./effects.js";

type Used = Pick<RunState, "iterations" | "costUsd" | "inputTokens" | "outputTokens" | "activeMs">;

/** The first limit that leaves nothing for another iteration. */
export function limitReached(used: Used, limits: Limits): StopReason | undefined {
  const { costUsd, tokens, timeMs } = remaining(used, limits);
  if (used.iterations >= limits.maxIterations) return "max_iterations";
  if (costUsd !== undefined && costUsd <= 0) return "budget_exhausted";
  if (tokens !== undefined && tokens <= 0) return "budget_exhausted";
  if (timeMs !== undefined && timeMs <= 0) return "timeout";
  return undefined;
}

export function remaining(used: Used, limits: Limits): Remaining {
  return {
    costUsd: left(limits.maxCostUsd, used.costUsd ?? 0),
    tokens: left(limits.maxTokens, used.inputTokens + used.outputTokens),
    timeMs: left(limits.maxTimeMs, used.activeMs),
  };
}

function left(limit: number | null, used: number): number | undefined {
  return limit === null ? undefined : limit - used;
}
