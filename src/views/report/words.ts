import { wordsFor } from "../../baseline.js";
import { formatDuration } from "../../duration.js";
import type { FileChange } from "../../events.js";
import { type IterationReport, wasNotRun } from "../../records/iteration.js";
import { finishedIterations, type Report } from "../../records/report.js";
import type { RunStatus } from "../../records/run-state.js";
import { titleOfReason } from "../../stop-reasons.js";
import { baselineWords, costCell, formatCount, skippedWords } from "../figures.js";
import { brief, firstLine, harmless } from "../harmless.js";
import { howToResume, questionRows, type Row, reasonWords, totals, worktreeRows } from "../summary.js";

/** What every form of the report says in the same words. */

const STANDINGS: Record<RunStatus, string> = {
  running: "Still running",
  paused: "Paused",
  waiting: "Waiting for a usage limit to end",
  crashed: "Cut off: ralph was killed before it could finish",
  finished: "Finished",
};

/** What came of the run; as long as it has not ended, where it stands. */
export function titleOf({ reason, status, exitCode }: Report): string {
  return reason === null ? STANDINGS[status] : titleOfReason(reason, exitCode);
}

/** Whether it is done, may still become so, or has failed. */
export function standingOf({ exitCode, status }: Report): "done" | "open" | "failed" {
  if (exitCode === 0) return "done";
  return status === "running" || status === "paused" || status === "waiting" ? "open" : "failed";
}

/** The command that goes on with the run, if one does. */
export function resumeOf(report: Report): string | null {
  return report.status === "running" ? null : howToResume(report.run, report);
}

export function backgroundOf({ background }: Report): string | null {
  return background === undefined ? null : "kept: what agents and checks left running was not ended";
}

/** What the run was, what it took and how to go on with it. */
export function factsOf(report: Report): Row[] {
  const { run, task, startedAt, reason, message, success, question } = report;
  return [
    ["run", run],
    ["task", task === "" ? null : brief(task)],
    ["recipe", report.recipe],
    ["agent", harmless(report.agent)],
    ["workspace", harmless(report.workspace)],
    ["started", `${startedAt.slice(0, 19).replace("T", " ")} UTC`],
    ["reason", reason === null ? null : reasonWords(reason, message)],
    ["iterations", String(finishedIterations(report))],
    ...totals(report),
    ["background", backgroundOf(report)],
    ["baseline", baselineWords(report.baseline)],
    ...worktreeRows(report),
    ...(success ? [] : questionRows(run, question)),
    ["resume", resumeOf(report)],
  ];
}

/** The first row has the names of the columns; `right` are the columns of numbers. */
export interface ReportTable {
  rows: string[][];
  right: number[];
}

export function iterationTable(report: Report): ReportTable {
  const { iterations, agent: own } = report;
  // Who was asked tells something where it was not always the agent of the run.
  const hasOthers = iterations.some(({ agent }) => agent !== null && agent !== own);
  const rows = iterations.map((iteration) => {
    const { durationMs, costUsd, costEstimated, inputTokens, outputTokens, checks } = iteration;
    const hasTokens = inputTokens + outputTokens > 0;
    return [
      String(iteration.iteration),
      formatDuration(durationMs),
      costCell(costUsd, costEstimated),
      hasTokens ? `${formatCount(inputTokens)}/${formatCount(outputTokens)}` : "-",
      checks.length === 0 ? "-" : `${checks.filter(({ passed }) => passed).length}/${checks.length}`,
      ...(hasOthers ? [iteration.agent ?? "-"] : []),
      resultOf(iteration),
    ];
  });
  const head = ["#", "time", "cost", "tokens", "checks", ...(hasOthers ? ["agent"] : []), "outcome"];
  return { rows: [head, ...rows], right: [0, 1, 2, 3, 4] };
}

/** What came of an iteration, in a line. */
export function resultOf({ finished, mode, reason }: IterationReport): string {
  const result = finished ? harmless(firstLine(reason)) : "not finished";
  return mode === null ? result : `${mode}: ${result}`;
}

const SAME = "=";

/** One sign for a check in an iteration: passed, failed, passed before and not run again, not run. */
export function checkMark(
  { checks }: IterationReport,
  command: string,
  signs: [pass: string, fail: string],
): string {
  const own = checks.filter((check) => check.command === command && !wasNotRun(check));
  if (own.length === 0) return "·";
  if (own.every(({ skipped }) => skipped === "unchanged")) return SAME;
  return own.every(({ passed }) => passed) ? signs[0] : signs[1];
}

/** What the signs of skipped checks mean, where there are some. */
export function skippedLegend({ iterations }: Report): string[] {
  const why = new Set(iterations.flatMap(({ checks }) => checks.map(({ skipped }) => skipped)));
  const words = (["unchanged", "after_failure", "untrusted"] as const).flatMap((one) =>
    why.has(one) ? [`${one === "unchanged" ? SAME : "·"} ${skippedWords(one)}`] : [],
  );
  return words.length === 0 ? [] : [words.join("; ")];
}

/** What has become of a check, where a baseline tells. */
export function becameIn({ baseline }: Report, command: string): string | undefined {
  const known = baseline.find((check) => check.command === command);
  return known && wordsFor(known);
}

/** The first files, and how many more there are. */
export function filesOf({ files, filesChanged }: Report, max: number): { shown: FileChange[]; more: number } {
  const shown = files.slice(0, max);
  return { shown, more: Math.max((filesChanged ?? files.length) - shown.length, 0) };
}

/** The end of a long text: there an agent says that it is done, and a check what went wrong. */
export function endOf(text: string): string {
  return text.length <= MAX_MESSAGE_CHARS ? text : `[…]\n${text.slice(-MAX_MESSAGE_CHARS)}`;
}

const MAX_MESSAGE_CHARS = 4000;
