/** What a run has spent. */
interface Sum {
  costUsd: number | null;
  costEstimated: boolean;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
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
