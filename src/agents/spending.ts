import type { AgentEvent, CallSpending, LiveUsage, TokenUsage } from "../events.js";

export interface Spending {
  /** Tokens that a result has told, or that its cost is for. */
  results: TokenUsage | undefined;
  resultCostUsd: number | undefined;
  /** Told along the way since then, by model call; the first one is the sum of those before it. */
  live: LiveUsage[];
}

export const NO_TOKENS: TokenUsage = {
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
};

export function noSpending(): Spending {
  return { results: undefined, resultCostUsd: undefined, live: [] };
}

/** Reports of one call come close together: what is far back does not change any more. */
const OPEN_CALLS = 16;

export function addSpending(spending: Spending, event: AgentEvent): Spending {
  const { live } = spending;
  if (event.type === "progress" && event.usage) {
    const { key: own } = event.usage;
    const known = own === undefined ? -1 : live.findIndex(({ key }) => key === own);
    live.splice(known === -1 ? live.length : known, 1, event.usage);
    if (live.length > OPEN_CALLS) live.unshift(live.splice(0, 2).reduce(sum, NO_TOKENS));
  }
  if (event.type !== "result") return spending;
  const { usage = NO_TOKENS, costUsd } = event;
  if (costUsd !== undefined) spending.resultCostUsd = costUsd;
  // One that ends a call early can report zeros: what was told along the way stays open.
  if (countOf(usage) === 0 && !costUsd) return spending;
  // A result is more exact than what was told along the way, and replaces it.
  const { costUsd: _, ...told } = live.reduce(sum, NO_TOKENS);
  spending.results = sum(spending.results ?? NO_TOKENS, countOf(usage) > 0 ? usage : told);
  spending.live = [];
  return spending;
}

export function spent(spending: Spending): CallSpending {
  const { costUsd = null, ...tokens } = sum(
    spending.results ?? NO_TOKENS,
    spending.live.reduce(sum, NO_TOKENS),
  );
  return { ...tokens, costUsd: spending.resultCostUsd ?? costUsd };
}

/**
 * The same, with what tokens cost that no result came for: as much as the dearest ones of the run, or all that the
 * call was allowed, where no price is known. `allowanceUsd` is null for a call without a limit, and undefined for
 * an agent that never tells what it costs.
 */
export function charged(
  spending: Spending,
  {
    allowanceUsd,
    pricePerToken,
  }: { allowanceUsd?: number | null | undefined; pricePerToken?: number | undefined },
): CallSpending {
  const known = spent(spending);
  const { costUsd, ...open } = spending.live.reduce(sum, NO_TOKENS);
  if (allowanceUsd === undefined || costUsd !== undefined || countOf(open) === 0) return known;
  const own = priceOf({ ...(spending.results ?? NO_TOKENS), costUsd: spending.resultCostUsd ?? null });
  const price = dearest(pricePerToken, own);
  if (price === undefined && allowanceUsd === null) return { ...known, costEstimated: true };
  const rest = Math.max(0, sumOfCosts(allowanceUsd, -(known.costUsd ?? 0)));
  const estimate = price === undefined ? rest : price * countOf(open);
  return { ...known, costUsd: sumOfCosts(known.costUsd, estimate), costEstimated: true };
}

/** What a token of a call cost, where that was told. */
export function priceOf({
  costUsd,
  costEstimated,
  ...tokens
}: Omit<CallSpending, "cacheWriteTokens">): number | undefined {
  return costUsd === null || costEstimated || countOf(tokens) === 0 ? undefined : costUsd / countOf(tokens);
}

export function dearest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function countOf({ inputTokens, outputTokens }: Pick<TokenUsage, "inputTokens" | "outputTokens">): number {
  return inputTokens + outputTokens;
}

function sum(a: LiveUsage, b: LiveUsage): LiveUsage {
  const isTold = a.costUsd !== undefined || b.costUsd !== undefined;
  return {
    ...(isTold && { costUsd: sumOfCosts(a.costUsd, b.costUsd) }),
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
}

/** To the millionth of a dollar: 0.1 and 0.05 are 0.15, and not 0.15000000000000002. */
export function sumOfCosts(one: number | null = null, other: number | null = null): number {
  return Number(((one ?? 0) + (other ?? 0)).toFixed(6));
}
