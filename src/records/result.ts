import type { BaselineCheck, CheckFinished, Limits, RunFinished, Witness } from "../events.js";
import { STOP_REASONS, stopRow } from "../stop-reasons.js";

/** How a run stands or ended: the same words in every list and for `--status`. */

const STANDING = {
  running: "running",
  pausing: "pausing",
  paused: "paused",
  waiting: "waiting: limit",
  crashed: "cut off",
  unknown: "unknown",
} as const;

const TOKENS = "stopped: tokens";
const ENDS = Object.values(STOP_REASONS).map(({ result }) => result);

/** All of them, in the order of their urgency: what still runs first. */
export const RESULTS: string[] = [...new Set([...Object.values(STANDING), ...ENDS, "blocked", TOKENS])];

type EndFacts = Pick<RunFinished, "reason" | "inputTokens" | "outputTokens"> & { question?: unknown };

/** `end`: the last end of its loop. A loop that ended without a word was ended from outside. */
export function resultOf(
  status: string,
  end?: EndFacts,
  limits?: Pick<Limits, "maxCostUsd" | "maxTokens">,
): string {
  if (Object.hasOwn(STANDING, status)) return STANDING[status as keyof typeof STANDING];
  if (end === undefined) return STOP_REASONS.interrupted.result;
  const { reason, inputTokens, outputTokens, question } = end;
  if (reason === "blocked" && question === undefined) return reason;
  const { maxCostUsd = null, maxTokens } = limits ?? {};
  const isOutOfTokens = maxTokens != null && (maxCostUsd === null || inputTokens + outputTokens >= maxTokens);
  if (reason === "budget_exhausted" && isOutOfTokens) return TOKENS;
  return stopRow(reason)?.result ?? reason;
}

/** `failed` of `failed: checks`. */
export function groupOf(result: string): string {
  return result.split(":", 1)[0] as string;
}

/** What earlier releases called them. */
const OLDER: Record<string, string> = { crashed: "cut off", "cut-off": "cut off", completed: "done" };

/** Which results `failed`, `failed: checks` or `done,failed` ask for; undefined: one of the words means none. */
export function resultFilter(words: string): ((result: string) => boolean) | undefined {
  const wanted = words.split(",").map((word) => word.trim().toLowerCase().replace(/:\s*/, ": "));
  const known = wanted.map((word) => OLDER[word] ?? word);
  if (!known.every((word) => RESULTS.some((result) => result === word || groupOf(result) === word)))
    return undefined;
  return (result) => known.some((word) => word === result || word === groupOf(result));
}

export function witnessOf({ before, now }: Pick<BaselineCheck, "before" | "now">): Witness {
  return `${before ? "green" : "red"}→${now ? "green" : "red"}`;
}

/** What has become of a check since the run began; undefined: it passes as it did. */
export function wordsFor({ before, now }: Pick<BaselineCheck, "before" | "now">): string | undefined {
  if (before) return now ? undefined : "broken by this run";
  return now ? "fixed" : "failed before";
}

/** The same of a check that has just ended. */
export function becameOf(
  { command, passed }: Pick<CheckFinished, "command" | "passed">,
  baseline: BaselineCheck[],
): string | undefined {
  const known = baseline.find((check) => check.command === command);
  return known && wordsFor({ before: known.before, now: passed });
}
