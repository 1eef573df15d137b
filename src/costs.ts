/** What calls of agents cost, as every view lists it. */

export const COST_KEYS = ["day", "agent", "project"] as const;
export type CostKey = (typeof COST_KEYS)[number];

export interface CostSum {
  runs: number;
  calls: number;
  /** The sum of what is known; null: nothing is known. */
  costUsd: number | null;
  /** A part of it is an estimate. */
  costEstimated: boolean;
  /** Calls whose cost nobody knows. */
  unknown: number;
  inputTokens: number;
  outputTokens: number;
}

export interface CostRow extends CostSum {
  /** `2026-01-31` by day, else a name. */
  key: string;
}
