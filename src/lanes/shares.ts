import { spent, sumOfCosts } from "../agents/spending.js";
import type { AgentStop, Limits } from "../events.js";
import { activeMsUntil, type RunState } from "../records/run-state.js";

/** What loops have used of the limits that they share, with what their agents at work have told so far. */
function usedBy(loops: RunState[], now: number) {
  const used = { iterations: 0, costUsd: 0, tokens: 0, timeMs: 0 };
  for (const loop of loops) {
    const { costUsd, inputTokens, outputTokens, iterations, iteration } = loop;
    const atWork = loop.atWork && spent(loop.atWork);
    used.costUsd = sumOfCosts(used.costUsd, sumOfCosts(costUsd, atWork?.costUsd));
    used.tokens += inputTokens + outputTokens + (atWork?.inputTokens ?? 0) + (atWork?.outputTokens ?? 0);
    used.timeMs += activeMsUntil(now, loop, loop.startedAt !== "");
    // One that is begun will be finished.
    const isBegun = iteration?.finished === false && loop.status !== "finished";
    used.iterations += iterations + Number(isBegun);
  }
  return used;
}

/** The limits of one loop: what the others leave of those of the run. Lanes that race have their own iterations. */
export function shareOf(limits: Limits, others: RunState[], now: number, ownIterations = false): Limits {
  const used = usedBy(others, now);
  const left = (limit: number | null, amount: number): number | null =>
    limit === null ? null : limit - amount;
  return {
    ...limits,
    maxIterations: limits.maxIterations - (ownIterations ? 0 : used.iterations),
    maxCostUsd: left(limits.maxCostUsd, used.costUsd),
    maxTokens: left(limits.maxTokens, used.tokens),
    maxTimeMs: left(limits.maxTimeMs, used.timeMs),
  };
}

/** Why all agents have to be ended; undefined: they may go on. */
export function passedLimit(limits: Limits, loops: RunState[], now: number): AgentStop | undefined {
  const { maxCostUsd, maxTokens, maxTimeMs } = limits;
  if ((maxCostUsd ?? maxTokens ?? maxTimeMs) === null) return undefined;
  const { costUsd, tokens, timeMs } = usedBy(loops, now);
  const isPassed = (limit: number | null, amount: number): boolean => limit !== null && amount > limit;
  if (isPassed(maxCostUsd, costUsd) || isPassed(maxTokens, tokens)) return "budget_exhausted";
  return isPassed(maxTimeMs, timeMs) ? "timeout" : undefined;
}
