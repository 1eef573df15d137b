import { formatDuration } from "../duration.js";
import type { CheckFinished } from "../events.js";

export interface Statistics {
  costUsd: number | null;
  costEstimated?: boolean;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  tools?: number;
  errors?: number;
  durationMs: number;
}

/** `cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s` */
export function formatStatistics(statistics: Statistics): string {
  const { costUsd, costEstimated, inputTokens, outputTokens, tools, errors, durationMs } = statistics;
  return [
    ...(costUsd === null ? [] : [`cost: ${formatCost(costUsd, costEstimated)}`]),
    ...(inputTokens + outputTokens === 0 ? [] : [`tokens: ${formatTokens(statistics)}`]),
    ...(tools === undefined ? [] : [`tools: ${tools}`]),
    ...(errors === undefined ? [] : [`errors: ${errors}`]),
    `time: ${formatDuration(durationMs)}`,
  ].join(", ");
}

/** `950`, `1.2K`, `850K`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1000, "K"] : [count / 1_000_000, "M"];
  return `${value < 100 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}

type Tokens = Pick<Statistics, "inputTokens" | "outputTokens" | "cacheReadTokens">;

/** `1.2M in (850K cached) / 45K out` */
export function formatTokens({ inputTokens, outputTokens, cacheReadTokens = 0 }: Tokens): string {
  const cached = cacheReadTokens > 0 ? ` (${formatCount(cacheReadTokens)} cached)` : "";
  return `${formatCount(inputTokens)} in${cached} / ${formatCount(outputTokens)} out`;
}

export function formatCost(usd: number, isEstimated = false): string {
  const cost = usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
  return isEstimated ? `${cost} (estimated)` : cost;
}

/** How a command came to its end: `exit 1`, `timed out`, `SIGKILL`. */
export function endingOf({
  exitCode,
  signal,
  timedOut,
  why,
}: Pick<CheckFinished, "exitCode" | "signal" | "timedOut" | "why">): string {
  if (why !== undefined) return why;
  return timedOut ? "timed out" : (signal ?? `exit ${exitCode ?? "unknown"}`);
}
