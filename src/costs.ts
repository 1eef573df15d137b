/** What calls of agents cost, as every view lists and words it. */
export const COST_KEYS = ["day", "agent", "project"] as const;
export type CostKey = (typeof COST_KEYS)[number];

export interface CostSum {
  runs: number;
  calls: number;
  /** The sum of what is known; null: nothing is known. */
  costUsd: number | null;
  /** A part of it is an estimate. */
  costEstimated: boolean;
  /** Calls whose cost is unknown. */
  unknown: number;
  inputTokens: number;
  outputTokens: number;
}

export interface CostRow extends CostSum {
  /** `2026-01-31` by day, else a name. */
  key: string;
}

/** `950`, `1.2K`, `850K`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1000, "K"] : [count / 1_000_000, "M"];
  return `${value < 100 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}

export function formatCost(usd: number, isEstimated = false): string {
  const cost = usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
  return isEstimated ? `${cost} (estimated)` : cost;
}
