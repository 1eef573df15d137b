import { basename } from "node:path";
import { formatDuration } from "../duration.js";
import type { Limits, LoopEvent, Question, RunFinished, StopReason } from "../events.js";
import type { RunState } from "../records/run-state.js";
import { stopRow, titleOfReason } from "../stop-reasons.js";
import { quoteWord } from "../words.js";
import { baselineWords, formatCost, formatCount, formatTokens, type Statistics } from "./figures.js";
import type { Formatter } from "./format.js";
import { brief, harmlessLine } from "./harmless.js";

/** A name and its value; null: there is nothing to say. */
export type Row = [name: string, value: string | null];

/** It names every check that failed, as far as that is reasonable. */
const MESSAGE_CHARS = 300;

/** The closing lines of a run: what came of it, what it took, how to go on. */
export function summaryLines(
  event: LoopEvent & RunFinished,
  { records, resumable }: { records: string; resumable: boolean },
  format: Formatter,
): string[] {
  const { run, reason, message, exitCode } = event;
  const title = titleOfReason(reason, exitCode);
  return [
    exitCode === 0
      ? format.paint("green", `${format.mark.ok} ${title}`)
      : format.paint("red", `${format.mark.error} ${title}`),
    ...rowLines([
      ["reason", reasonWords(reason, message, MESSAGE_CHARS)],
      ["iterations", String(event.iterations)],
      ...totals(event),
      ["baseline", baselineWords(event.baseline)],
      ...worktreeRows(event),
      ["log", records],
      ...(resumable
        ? ([...questionRows(run, event.question), ["resume", howToResume(run, event)]] satisfies Row[])
        : []),
    ]),
  ];
}

/** `max_iterations (2 of 3 checks failed)` */
export function reasonWords(
  reason: StopReason,
  message: string | null | undefined,
  chars = Number.POSITIVE_INFINITY,
): string {
  return message == null ? reason : `${reason} (${brief(message, chars)})`;
}

/** What the agent wants to know, and how to tell it. */
export function questionRows(run: string, question: Question | null | undefined): Row[] {
  if (question == null) return [];
  return [
    ["question", brief(harmlessLine(question.text), MESSAGE_CHARS)],
    ["answer", `ralph answer ${run} "TEXT"`],
  ];
}

/** The commands that bring the work home and clear up behind it. */
export function worktreeRows(run: { worktree: string | null; unsettled?: string | null }): Row[] {
  const { worktree: path, unsettled } = run;
  if (path === null) return [];
  if (unsettled != null) return [["worktree", path]];
  const branch = `ralph/${basename(path)}`;
  return [
    ["worktree", path],
    ["merge", `git merge ${branch}`],
    ["clean up", `git worktree remove ${quoteWord(path)} && git branch -d ${branch}`],
  ];
}

/** What is known of the end of a run, if it has ended. */
interface End {
  reason?: StopReason | null | undefined;
  limit?: StopReason | null | undefined;
  success?: boolean;
  final?: boolean;
}

/** The command that goes on with a run, with what it needs for that; null: nothing does. */
export function howToResume(run: string, { reason, limit, success, final }: End): string | null {
  if (success || final) return null;
  const reached = new Set([limit, reason].filter((one) => one != null));
  return `ralph resume ${run}${[...reached].map((one) => stopRow(one)?.raise ?? "").join("")}`;
}

/** What a run took and what it changed. */
export function totals(spent: Statistics & { filesChanged: number | null }): Row[] {
  const { durationMs, costUsd, costEstimated, filesChanged } = spent;
  return [
    ["time", formatDuration(durationMs)],
    ["cost", costUsd === null ? null : formatCost(costUsd, costEstimated)],
    ["tokens", formatTokens(spent)],
    ["files", filesChanged === null ? null : `${filesChanged} changed`],
  ];
}

export function rowLines(rows: Row[]): string[] {
  return rows.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(11)}${value}`]));
}

type Used = Pick<RunState, "iterations" | "costUsd" | "inputTokens" | "outputTokens" | "activeMs">;

/** What a run has used of the limit that it has reached: `$0.10 of $0.05 was spent`. */
export function spentOf(spent: Used, limits: Limits, reached: StopReason): string {
  const { maxIterations, maxCostUsd, maxTokens, maxTimeMs } = limits;
  const costUsd = spent.costUsd ?? 0;
  if (reached === "max_iterations") return `${spent.iterations} of ${maxIterations} iterations were run`;
  if (reached === "timeout")
    return `${formatDuration(spent.activeMs)} of ${formatDuration(maxTimeMs ?? 0)} were used`;
  if (maxCostUsd !== null && costUsd >= maxCostUsd)
    return `${formatCost(costUsd)} of ${formatCost(maxCostUsd)} was spent`;
  const tokens = spent.inputTokens + spent.outputTokens;
  return `${formatCount(tokens)} of ${formatCount(maxTokens ?? 0)} tokens were used`;
}
