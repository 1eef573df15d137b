import { sumOfCosts } from "../cost.js";
import type { LiveUsage, ResultEvent, TokenUsage } from "../events.js";

/** What an agent has told of its spending. */
export interface Spending {
  /** Tokens that a result has told, or that its cost is for. */
  results: TokenUsage | undefined;
  resultCostUsd: number | undefined;
  /** Told along the way since then, by model call. */
  live: LiveUsage[];
  /** What came before the calls in `live`. */
  settled: LiveUsage;
}

export interface Spent extends TokenUsage {
  /** null: nothing was said about cost. */
  costUsd: number | null;
  /** A part of the cost is what ralph takes the tokens to have cost. */
  costEstimated?: true;
}

/** What is known of prices when a call begins. */
export interface Prices {
  /** What the call may spend, null: as much as it likes; undefined: its agent never tells what it costs. */
  allowanceUsd?: number | null | undefined;
  /** The dearest token so far. */
  pricePerToken?: number | undefined;
}

export const NO_TOKENS: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

export function spent(spending: Spending): Spent {
  const { costUsd = null, ...tokens } = sum(spending.results ?? NO_TOKENS, liveSum(spending));
  return { ...tokens, costUsd: spending.resultCostUsd ?? costUsd };
}

/**
 * The same, with what tokens cost that no result came for: as much as the dearest ones of the run, or all that
 * the call was allowed, where no price is known.
 */
export function charged(spending: Spending, { allowanceUsd, pricePerToken }: Prices): Spent {
  const known = spent(spending);
  const { costUsd, ...open } = liveSum(spending);
  if (allowanceUsd === undefined || costUsd !== undefined || countOf(open) === 0) return known;
  const own = priceOf({ ...(spending.results ?? NO_TOKENS), costUsd: spending.resultCostUsd ?? null });
  const price = dearest(pricePerToken, own);
  if (price === undefined && allowanceUsd === null) return { ...known, costEstimated: true };
  const isOver = allowanceUsd !== null && allowanceUsd <= (known.costUsd ?? 0);
  const rest = isOver ? 0 : sumOfCosts(allowanceUsd, -(known.costUsd ?? 0));
  const estimate = price === undefined ? rest : price * countOf(open);
  return { ...known, costUsd: sumOfCosts(known.costUsd, estimate), costEstimated: true };
}

type Paid = Pick<Spent, "costUsd" | "costEstimated" | "inputTokens" | "outputTokens">;

/** What a token of a call cost, where that was told. */
export function priceOf({ costUsd, costEstimated, ...tokens }: Paid): number | undefined {
  return costUsd === null || costEstimated || countOf(tokens) === 0 ? undefined : costUsd / countOf(tokens);
}

export function dearest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function countOf({ inputTokens, outputTokens }: Pick<TokenUsage, "inputTokens" | "outputTokens">): number {
  return inputTokens + outputTokens;
}

/** A result is more exact than what was told along the way, and replaces it; one that ends a run early can report zeros. */
export function addResultSpending(spending: Spending, { usage = NO_TOKENS, costUsd }: ResultEvent): void {
  if (costUsd !== undefined) spending.resultCostUsd = costUsd;
  if (countOf(usage) === 0 && costUsd === undefined) return;
  const { costUsd: _, ...live } = liveSum(spending);
  spending.results = sum(spending.results ?? NO_TOKENS, countOf(usage) > 0 ? usage : live);
  spending.live = [];
  spending.settled = NO_TOKENS;
}

/** Reports of one call come close together: what is far back does not change any more. */
const OPEN_CALLS = 16;

export function addLive(spending: Spending, usage: LiveUsage): void {
  const known = spending.live.findIndex(({ key }) => key !== undefined && key === usage.key);
  if (known !== -1) spending.live[known] = usage;
  else spending.live.push(usage);
  const oldest = spending.live.length > OPEN_CALLS ? spending.live.shift() : undefined;
  if (oldest !== undefined) spending.settled = sum(spending.settled, oldest);
}

function liveSum({ live, settled }: Spending): LiveUsage {
  return live.reduce(sum, settled);
}

function sum(a: LiveUsage, b: LiveUsage): LiveUsage {
  const costs = a.costUsd !== undefined || b.costUsd !== undefined;
  return {
    ...(costs && { costUsd: sumOfCosts(a.costUsd, b.costUsd) }),
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
}
