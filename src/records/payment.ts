import { dearest, priceOf } from "../agents/spending.js";
import { sumOfCosts } from "../cost.js";
import type { CallSpending } from "../events.js";

/** What a run has spent. */
interface Sum {
  costUsd: number | null;
  costEstimated: boolean;
  pricePerToken: number | undefined;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
}

type Payment = Omit<CallSpending, "cacheWriteTokens">;

/** The same with one more payment. */
export function paid(sum: Sum, payment: Payment): Sum {
  return {
    costUsd: payment.costUsd === null ? sum.costUsd : sumOfCosts(sum.costUsd, payment.costUsd),
    costEstimated: sum.costEstimated || payment.costEstimated === true,
    pricePerToken: dearest(sum.pricePerToken, priceOf(payment)),
    inputTokens: sum.inputTokens + payment.inputTokens,
    outputTokens: sum.outputTokens + payment.outputTokens,
    cacheReadTokens: sum.cacheReadTokens + (payment.cacheReadTokens ?? 0),
  };
}

/** As events tell it. */
export function spendingOf({ costUsd, costEstimated, inputTokens, outputTokens, cacheReadTokens }: Sum) {
  return {
    costUsd,
    ...(costEstimated && { costEstimated: true as const }),
    inputTokens,
    outputTokens,
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
  };
}
