import type { AgentEvent, CallSpending, LiveUsage, TokenUsage } from "../events.js";

export interface Spending {
  /** Tokens that a result has reported, or that its cost covers. */
  results: TokenUsage | undefined;
  resultCostUsd: number | undefined;
  /** Reported since then by each model call; the first entry is the sum of earlier calls. */
  live: LiveUsage[];
}

export const NO_TOKENS: TokenUsage = {
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
};

export function noSpending(): Spending {
  return { results: undefined, resultCostUsd: undefined, live: [] };
}

/** Reports of one call come close together: earlier ones no longer change. */
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
  // An agent that ends a call early can report zeros: keep the figures reported so far.
  if (countOf(usage) === 0 && !costUsd) return spending;
  // A result is more exact than earlier figures, and replaces them.
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
 * The same, with a price for tokens that no result covers: the highest price of a token in the run, or the
 * whole allowance if no price is known. `allowanceUsd` is null for a call without a limit, and undefined for
 * an agent that never reports a cost.
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

/** The price of a token in a call, if reported. */
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

/** Rounds to a millionth of a dollar: 0.1 and 0.05 are 0.15, not 0.15000000000000002. */
export function sumOfCosts(one: number | null = null, other: number | null = null): number {
  return Number(((one ?? 0) + (other ?? 0)).toFixed(6));
}
