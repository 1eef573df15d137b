import type { CostSum } from "../../costs.js";
import { formatDuration } from "../../duration.js";

export { formatDuration };

/** `$1.20`; of a cost that nobody knows: unknown. */
export function money(usd: number | null): string {
  if (usd === null) return "unknown";
  return usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function costWords({ costUsd, costEstimated, unknown }: CostSum): string {
  if (costUsd === null) return "unknown";
  const known = `${money(costUsd)}${costEstimated ? " (in part an estimate)" : ""}`;
  return unknown === 0 ? known : `${known} + ${unknown} unknown`;
}

/** `950`, `1.2K`, `850K`, `1.2M`. */
export function count(value: number): string {
  if (value < 1000) return String(value);
  const [amount, unit] = value < 999_500 ? [value / 1000, "K"] : [value / 1_000_000, "M"];
  return `${amount < 100 ? amount.toFixed(1).replace(/\.0$/, "") : Math.round(amount)}${unit}`;
}

const AGES: [unit: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
];

/** `3d`, `5h`, `12m`, `40s`. */
export function age(at: string | null, now: number): string {
  if (at === null) return "–";
  const ms = Math.max(0, now - Date.parse(at));
  const [unit, size] = AGES.find(([, least]) => ms >= least) ?? ["s", 1000];
  return `${Math.floor(ms / size)}${unit}`;
}

export function bytes(size: number): string {
  return size < 1024
    ? `${size} B`
    : size < 1024 ** 2
      ? `${(size / 1024).toFixed(1)} KB`
      : `${(size / 1024 ** 2).toFixed(1)} MB`;
}

export function clock(ts: string): string {
  return ts === "" ? "" : new Date(ts).toTimeString().slice(0, 8);
}
