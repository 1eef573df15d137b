import { formatDuration } from "../../duration.js";
import { type CheckReport, type IterationReport, wasNotRun } from "../../records/iteration.js";
import { checkCommands, finishedIterations, type Report } from "../../records/report.js";
import { wordsFor } from "../../records/result.js";
import type { RunStatus } from "../../records/run-state.js";
import { costCell, endingOf, formatCount, skippedWords } from "../figures.js";
import { brief, firstLine, harmless } from "../harmless.js";
import {
  endRows,
  firstFailing,
  flakyWords,
  resumeRows,
  type STANDINGS,
  type SummaryRow,
  standingOfEnd,
  titleOfEnd,
} from "../summary.js";

/** Facts that every form of the report shows in the same words. */

const TITLES: Record<RunStatus, string> = {
  running: "Still running",
  paused: "Paused",
  waiting: "Waiting for a usage limit to end",
  crashed: "Cut off: ralph was killed before it could finish",
  finished: "Finished",
};

/** The outcome of the run; before its end, its state. */
export function titleOf(report: Report): string {
  const { reason, status, limits } = report;
  if (reason === null) return TITLES[status];
  return titleOfEnd({ ...report, reason, iterations: finishedIterations(report) }, limits);
}

/** Whether it is done, may still become so, or has failed. */
export function standingOf(report: Report): keyof typeof STANDINGS {
  const { status } = report;
  return status === "running" || status === "paused" || status === "waiting" ? "open" : standingOfEnd(report);
}

export const COPIED = "name run workspace worktree diff land answer resume receipt re-check".split(" ");

export function factsOf(report: Report): SummaryRow[] {
  const { run, name, task, reason, background, limits } = report;
  const failing = report.success ? undefined : firstFailing(report.iterations.at(-1));
  // Each lane of a race has a limit of its own.
  const isRace = report.lanes !== undefined && report.recipe !== "stories";
  const iterations = `${finishedIterations(report)}${isRace ? " in all lanes" : ` of ${limits.maxIterations}`}`;
  return [
    ["run", run],
    ["name", name],
    ["task", task === "" ? null : brief(task)],
    ["recipe", report.recipe],
    ["agent", harmless(report.agent)],
    ["workspace", harmless(report.workspace)],
    ["started", utc(report.startedAt)],
    [reason === null ? "last event" : "ended", utc(report.lastAt)],
    ["flaky", flakyWords(report.iterations.at(-1))],
    ["receipt", report.receipt ?? report.unproven],
    ["re-check", report.receipt && `ralph verify ${run}`],
    ["background", background && "kept: what agents and checks left running was not ended"],
    ...endRows({ ...report, failing }, iterations, limits),
    ...(report.landed ?? []).map(
      ({ into, commit, unverified }): SummaryRow => [
        "landed",
        `in ${into}, at ${commit.slice(0, 9)}${unverified ? ", and nothing verified it" : ""}`,
      ],
    ),
    ...(report.status === "running" || report.landed ? [] : resumeRows({ ...report, run: name ?? run })),
  ];
}

/** The figures that are shown side by side. */
const TOTALS = ["iterations", "time", "cost", "tokens", "files"];

export function isTotal([name]: SummaryRow): boolean {
  return TOTALS.includes(name);
}

/** Rows that say something. */
export function known(rows: SummaryRow[]): [name: string, value: string][] {
  return rows.flatMap(([name, value]) => (value == null ? [] : [[name, value] as [string, string]]));
}

function utc(at: string): string {
  return `${at.slice(0, 19).replace("T", " ")} UTC`;
}

export interface ReportTable {
  title: string;
  head: string[];
  rows: string[][];
  right: number[];
  /** The column that names the thing of a row. */
  named?: number;
  note?: string | undefined;
}

export function iterationTable({ iterations, agent: own }: Report): ReportTable {
  // The agent of an iteration matters if it was not always the agent of the run.
  const hasOthers = iterations.some(({ agent }) => agent !== null && agent !== own);
  const hasLanes = iterations.some(({ lane }) => lane !== undefined);
  const rows = iterations.map((iteration) => {
    const { durationMs, costUsd, costEstimated, inputTokens, outputTokens, checks } = iteration;
    const hasTokens = inputTokens + outputTokens > 0;
    return [
      String(iteration.iteration),
      formatDuration(durationMs),
      costCell(costUsd, costEstimated),
      hasTokens ? `${formatCount(inputTokens)}/${formatCount(outputTokens)}` : "-",
      checks.length === 0 ? "-" : `${checks.filter(({ passed }) => passed).length}/${checks.length}`,
      ...(hasLanes ? [iteration.lane ?? "-"] : []),
      ...(hasOthers ? [iteration.agent ?? "-"] : []),
      resultOf(iteration),
    ];
  });
  const figures = ["#", "time", "cost", "tokens", "checks"];
  const head = figures.concat(hasLanes ? "lane" : [], hasOthers ? "agent" : [], "outcome");
  return { title: "Iterations", head, rows, right: [0, 1, 2, 3, 4] };
}

export function resultOf({ finished, mode, reason }: IterationReport): string {
  const result = finished ? harmless(firstLine(reason)) : "not finished";
  return mode === null ? result : `${mode}: ${result}`;
}

export function storyTable({ stories }: Report): ReportTable {
  const rows = stories.map(({ story, state, reviews, atCap, iterations, costUsd, durationMs, title }) => [
    ...[story, state ?? "-", `${reviews}${atCap ? " (cap)" : ""}`, String(iterations)],
    ...[costCell(costUsd), formatDuration(durationMs), title],
  ]);
  const head = ["story", "state", "reviews", "iter", "cost", "time", "title"];
  return { title: "Stories", head, rows, right: [2, 3, 4, 5], named: 0 };
}

export function fileTable({ files, filesChanged }: Report, max: number): ReportTable {
  const rows = files.slice(0, max).map(({ path, change, added, removed }) => {
    const lines = added === null || removed === null ? "" : `+${added} -${removed}`;
    return [change, lines, path];
  });
  const more = (filesChanged ?? files.length) - rows.length;
  const note = more > 0 ? `and ${more} more` : undefined;
  return { title: "Files changed", head: ["change", "lines", "path"], rows, right: [1], named: 2, note };
}

/** Each check with its result in each iteration; undefined: it did not run. */
export function checkRows(report: Report) {
  return checkCommands(report).map((command) => {
    const results = report.iterations.map(({ checks }) => {
      // The same command may be two checks: one that failed is the one to see.
      const same = checks.filter((check) => check.command === command && !wasNotRun(check));
      return same.find(({ passed }) => !passed) ?? same[0];
    });
    return { command, results, became: becameIn(report, command) };
  });
}

/** How a check changed since the baseline; empty: it did not, or there is none. */
export function becameIn({ baseline }: Report, command: string): string {
  const known = baseline.find((check) => check.command === command);
  return (known && wordsFor(known)) ?? "";
}

const SAME = "=";

/** A row per check with a sign per iteration: passed, failed, passed before and not run again (`=`), not run. */
export function checkTable(
  report: Report,
  [pass, fail]: [string, string],
  { maxSigns, maxChars = Number.POSITIVE_INFINITY }: { maxSigns: number; maxChars?: number },
): ReportTable {
  const signOf = (check: CheckReport | undefined): string => {
    if (check === undefined) return "·";
    return check.skipped !== null ? SAME : check.passed ? pass : fail;
  };
  const since = report.baseline.length === 0 ? [] : ["since the baseline"];
  const rows = checkRows(report).map(({ command, results, became }) => {
    const signs = `${results.length > maxSigns ? "…" : ""}${results.slice(-maxSigns).map(signOf).join("")}`;
    return [brief(command, maxChars), signs, ...since.map(() => became)];
  });
  const why = new Set(report.iterations.flatMap(({ checks }) => checks.map(({ skipped }) => skipped)));
  const legend = (["unchanged", "after_failure", "untrusted"] as const)
    .filter((one) => why.has(one))
    .map((one) => `${one === "unchanged" ? SAME : "·"} ${skippedWords(one)}`);
  const note = legend.length === 0 ? undefined : legend.join("; ");
  return { title: "Checks", head: ["check", "iterations", ...since], rows, right: [], named: 0, note };
}

/** `passed, 1.2s`, `failed, exit 1, 1.2s` */
export function checkWords(check: CheckReport): string {
  if (check.skipped !== null) return skippedWords(check.skipped);
  const time = formatDuration(check.durationMs);
  return check.passed ? `passed, ${time}` : `failed, ${endingOf(check)}, ${time}`;
}

/** The end of a long text: agents say there that they are done, and checks what failed. */
export function endOf(text: string): string {
  return text.length <= MAX_MESSAGE_CHARS ? text : `[…]\n${text.slice(-MAX_MESSAGE_CHARS)}`;
}

const MAX_MESSAGE_CHARS = 4000;
