import { styleText } from "node:util";
import { formatCost, formatCount } from "../costs.js";
import { formatDuration } from "../duration.js";
import type { BaselineCheck, CheckFinished } from "../events.js";
import type { Spent } from "../records/iteration.js";
import { witnessOf, wordsFor } from "../records/result.js";
import { brief } from "./harmless.js";

export { formatCost, formatCount };

/** Money, tokens, times and counts, as every view words them. */

export interface Statistics extends Spent {
  durationMs: number;
}

/** `cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s` */
export function formatStatistics(statistics: Statistics & { tools: number; errors: number }): string {
  const { costUsd, costEstimated, tools, errors, durationMs } = statistics;
  const tokens = formatTokens(statistics);
  return [
    costUsd !== null && `cost: ${formatCost(costUsd, costEstimated)}`,
    tokens !== null && `tokens: ${tokens}`,
    `tools: ${tools}`,
    `errors: ${errors}`,
    `time: ${formatDuration(durationMs)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** `1.2M in (850K cached) / 45K out`; null: the agent reports none. */
export function formatTokens(
  spent: Pick<Statistics, "inputTokens" | "outputTokens" | "cacheReadTokens">,
): string | null {
  const { inputTokens, outputTokens, cacheReadTokens } = spent;
  if (inputTokens + outputTokens === 0) return null;
  const cached = cacheReadTokens ? ` (${formatCount(cacheReadTokens)} cached)` : "";
  return `${formatCount(inputTokens)} in${cached} / ${formatCount(outputTokens)} out`;
}

/** The same for a cell of a table. */
export function costCell(usd: number | null, isEstimated?: boolean): string {
  return usd === null ? "-" : formatCost(usd, isEstimated);
}

export function joined(...parts: (string | number | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(" · ");
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** `16:01`, on another day `Nov 16, 05:01`: local time. */
export function localMoment(at: string, seenFrom: string): string {
  const [moment, now] = [new Date(at), new Date(seenFrom)];
  if (Number.isNaN(moment.getTime())) return at;
  const time = moment.toTimeString().slice(0, 5);
  if (moment.toDateString() === now.toDateString()) return time;
  return `${moment.toLocaleString("en", { month: "short" })} ${moment.getDate()}, ${time}`;
}

/** How a command ended: `exit 1`, `timed out`, `SIGKILL`. */
export function endingOf(end: Pick<CheckFinished, "exitCode" | "signal" | "timedOut" | "why">): string {
  const how = end.timedOut ? "timed out" : (end.signal ?? `exit ${end.exitCode ?? "unknown"}`);
  return end.why ?? how;
}

const SKIPPED: Record<string, string> = {
  unchanged: "skipped, its inputs are unchanged since it passed",
  after_failure: "skipped, another check failed first",
  untrusted: "not run: an agent added it, and no sandbox confines it",
};

/** Why a check was not run; a later release may have other reasons. */
export function skippedWords(why: NonNullable<CheckFinished["skipped"]>): string {
  return SKIPPED[why] ?? "skipped";
}

/** `red→green: npm test; green→green: npm run lint`; null without a baseline. */
export function witnessWords(baseline: BaselineCheck[] = []): string | null {
  return grouped(baseline, ["red→green", "green→green", "red→red", "green→red"], witnessOf) || null;
}

/** Enough of a command to recognise it in a line with others. */
export const COMMAND_CHARS = 40;

/** `fixed: npm test; broken by this run: npm run lint`; null: there is no baseline. */
export function baselineWords(baseline: BaselineCheck[] = []): string | null {
  if (baseline.length === 0) return null;
  const words = grouped(baseline, ["fixed", "failed before", "broken by this run"], wordsFor);
  return words || "all checks pass, as before";
}

type WordOf = (check: BaselineCheck) => string | undefined;

function grouped(baseline: BaselineCheck[], words: string[], wordFor: WordOf): string {
  const groups = words.map((word) => {
    const own = baseline.filter((check) => wordFor(check) === word);
    return own.length > 0 && `${word}: ${own.map(({ command }) => brief(command, COMMAND_CHARS)).join(", ")}`;
  });
  return groups.filter(Boolean).join("; ");
}

export interface FormatOptions {
  useEmoji: boolean;
  useColor: boolean;
}

/** Each sign, and its replacement without emoji. */
const MARKS = {
  ok: ["✅", "[OK]"],
  error: ["❌", "[ERR]"],
  tool: ["⏺", "*"],
  todo: ["📋", "[TODO]"],
  pending: ["⏸️", "[ ]"],
  active: ["🔄", "[>]"],
  progress: ["📊", "[..]"],
  warning: ["⚠️", "[WARN]"],
  alarm: ["🚨", "[!!]"],
  output: ["⎿", "|"],
  from: ["←", "<-"],
  to: ["→", "->"],
  pass: ["✓", "P"],
  fail: ["✗", "F"],
  selected: ["❯", ">"],
  more: ["…", "..."],
  dot: [" · ", ", "],
  rule: ["─", "-"],
  bar: ["│", "|"],
} satisfies Record<string, [emoji: string, plain: string]>;

export type Color = Parameters<typeof styleText>[0];

export interface Formatter {
  mark: Record<keyof typeof MARKS, string>;
  paint(color: Color, text: string): string;
}

export function createFormatter({ useEmoji, useColor }: FormatOptions): Formatter {
  const signs = Object.entries(MARKS).map(([name, [emoji, plain]]) => [name, useEmoji ? emoji : plain]);
  return {
    mark: Object.fromEntries(signs) as Formatter["mark"],
    paint: (color, text) => (useColor ? styleText(color, text, { validateStream: false }) : text),
  };
}
