import { sumOfCosts } from "../cost.js";
import type { AgentEvent, CallSpending, LiveUsage, ResultEvent, TokenUsage } from "../events.js";

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

export const NO_TOKENS: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

export function noSpending(): Spending {
  return { results: undefined, resultCostUsd: undefined, live: [], settled: NO_TOKENS };
}

/** Reports of one call come close together: what is far back does not change any more. */
const OPEN_CALLS = 16;

/** Adds what one event tells of spending, in place. */
export function addSpending(spending: Spending, event: AgentEvent): Spending {
  if (event.type === "progress" && event.usage) addLive(spending, event.usage);
  if (event.type === "result") addResult(spending, event);
  return spending;
}

function addLive(spending: Spending, usage: LiveUsage): void {
  const { live } = spending;
  const known = live.findIndex(({ key }) => key !== undefined && key === usage.key);
  if (known === -1) live.push(usage);
  else live[known] = usage;
  if (live.length > OPEN_CALLS) spending.settled = sum(spending.settled, live.shift() ?? NO_TOKENS);
}

/** A result is more exact than what was told along the way, and replaces it. */
function addResult(spending: Spending, { usage = NO_TOKENS, costUsd }: ResultEvent): void {
  if (costUsd !== undefined) spending.resultCostUsd = costUsd;
  // One that ends a call early can report zeros: what was told along the way stays open.
  if (countOf(usage) === 0 && !costUsd) return;
  const { costUsd: _, ...live } = liveSum(spending);
  spending.results = sum(spending.results ?? NO_TOKENS, countOf(usage) > 0 ? usage : live);
  spending.live = [];
  spending.settled = NO_TOKENS;
}

export function spent(spending: Spending): CallSpending {
  const { costUsd = null, ...tokens } = sum(spending.results ?? NO_TOKENS, liveSum(spending));
  return { ...tokens, costUsd: spending.resultCostUsd ?? costUsd };
}

/** What is known of prices when a call begins. */
interface Prices {
  /** What the call may spend, null: as much as it likes; undefined: its agent never tells what it costs. */
  allowanceUsd?: number | null | undefined;
  /** The dearest token so far. */
  pricePerToken?: number | undefined;
}

/**
 * The same, with what tokens cost that no result came for: as much as the dearest ones of the run, or all that
 * the call was allowed, where no price is known.
 */
export function charged(spending: Spending, { allowanceUsd, pricePerToken }: Prices): CallSpending {
  const known = spent(spending);
  const { costUsd, ...open } = liveSum(spending);
  if (allowanceUsd === undefined || costUsd !== undefined || countOf(open) === 0) return known;
  const own = priceOf({ ...(spending.results ?? NO_TOKENS), costUsd: spending.resultCostUsd ?? null });
  const price = dearest(pricePerToken, own);
  if (price === undefined && allowanceUsd === null) return { ...known, costEstimated: true };
  const rest = Math.max(0, sumOfCosts(allowanceUsd, -(known.costUsd ?? 0)));
  const estimate = price === undefined ? rest : price * countOf(open);
  return { ...known, costUsd: sumOfCosts(known.costUsd, estimate), costEstimated: true };
}

type Payment = Pick<CallSpending, "costUsd" | "costEstimated" | "inputTokens" | "outputTokens">;

/** What a token of a call cost, where that was told. */
export function priceOf({ costUsd, costEstimated, ...tokens }: Payment): number | undefined {
  return costUsd === null || costEstimated || countOf(tokens) === 0 ? undefined : costUsd / countOf(tokens);
}

export function dearest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function countOf({ inputTokens, outputTokens }: Pick<TokenUsage, "inputTokens" | "outputTokens">): number {
  return inputTokens + outputTokens;
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
