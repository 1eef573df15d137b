import { basename } from "node:path";
import { formatDuration } from "../duration.js";
import type { LoopEvent, Question, RunFinished, StopReason } from "../events.js";
import { stopRow, titleOfReason } from "../stop-reasons.js";
import { quoteWord } from "../words.js";
import { baselineWords } from "./checks.js";
import { formatCost, formatTokens, type Statistics } from "./figures.js";
import type { Formatter } from "./format.js";
import { brief, harmlessLine } from "./harmless.js";

/** A name and its value; null: there is nothing to say. */
export type Row = [name: string, value: string | null];

/** It names every check that failed, as far as that is reasonable. */
const MESSAGE_CHARS = 300;

const COMMAND_CHARS = 40;

/** The closing lines of a run: what came of it, what it took, how to go on. */
export function summaryLines(
  event: LoopEvent & RunFinished,
  { records, resumable }: { records: string; resumable: boolean },
  format: Formatter,
): string[] {
  const { reason, message, exitCode } = event;
  const isWell = exitCode === 0;
  const mark = isWell ? format.mark.ok : format.mark.error;
  const title = titleOfReason(reason, exitCode);
  return [
    format.paint(isWell ? "green" : "red", `${mark} ${title}`),
    ...rowLines([
      ["reason", message === undefined ? reason : `${reason} (${brief(message, MESSAGE_CHARS)})`],
      ["iterations", String(event.iterations)],
      ...totals(event),
      ["baseline", baselineWords(event.baseline, (command) => brief(command, COMMAND_CHARS))],
      ...worktreeRows(event),
      ["log", records],
      ...(resumable ? questionRows(event.run, event.question) : []),
      ["resume", !resumable ? null : howToResume(event.run, event)],
    ]),
  ];
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
export function worktreeRows({
  worktree: path,
  unsettled,
}: {
  worktree: string | null;
  unsettled?: string | null | undefined;
}): Row[] {
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

interface Spent extends Statistics {
  filesChanged: number | null;
}

/** What a run took and what it changed. */
export function totals(spent: Spent): Row[] {
  const { durationMs, costUsd, costEstimated, inputTokens, outputTokens, filesChanged } = spent;
  return [
    ["time", formatDuration(durationMs)],
    ["cost", costUsd === null ? null : formatCost(costUsd, costEstimated)],
    ["tokens", inputTokens + outputTokens === 0 ? null : formatTokens(spent)],
    ["files", filesChanged === null ? null : `${filesChanged} changed`],
  ];
}

export function rowLines(rows: Row[]): string[] {
  return rows.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(11)}${value}`]));
}
