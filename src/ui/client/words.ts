import { type CostSum, formatCost, formatCount } from "../../costs.js";
import { formatDuration } from "../../duration.js";

export { formatCount, formatDuration };

export function money(usd: number | null): string {
  return usd === null ? "unknown" : formatCost(usd);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What is not in a sum, or not sure; empty: all of it is known. */
export function unknownWords({ costUsd, costEstimated, unknown }: CostSum): string {
  const estimated = costEstimated ? "in part an estimate" : "";
  return [estimated, costUsd !== null && unknown > 0 ? `+ ${unknown} unknown` : ""].filter(Boolean).join(" ");
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
