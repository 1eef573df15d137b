import { formatDuration } from "../../duration.js";
import type { FileChange } from "../../events.js";
import { type CheckReport, hasFailed, type IterationReport } from "../../records/iteration.js";
import { checkCommands, finishedIterations, type Report } from "../../records/report.js";
import { baselineWords } from "../checks.js";
import { endingOf, formatCost, formatCount } from "../figures.js";
import { harmless, harmlessLine } from "../harmless.js";
import { type Row, totals, worktreeRows } from "../summary.js";
import {
  backgroundOf,
  becameIn,
  checkMark,
  hasOtherAgents,
  passedOf,
  resultOf,
  skippedLegend,
  standingOf,
  titleOf,
} from "./words.js";

const SIGNS = { done: "✅", open: "🔄", failed: "❌" };
const MAX_FILES = 50;
const MAX_COLUMNS = 20;
const MAX_DETAILS = 50;
const MAX_MESSAGE_CHARS = 4000;

/** The report for a pull request, an issue or a job summary. */
export function markdownReport(report: Report): string {
  const parts = [
    `# ${SIGNS[standingOf(report)]} ${titleOf(report)}`,
    facts(report),
    iterationTable(report),
    storyTable(report),
    checkTable(report),
    fileList(report),
    ...report.iterations.slice(-MAX_DETAILS).map((iteration) => details(iteration)),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function facts(report: Report): string {
  const { run, agent, workspace, startedAt, reason, message } = report;
  const rows: [string, string | null][] = [
    ["run", `\`${run}\``],
    ["task", report.task === "" ? null : cell(report.task)],
    ["agent", cell(agent)],
    ["workspace", code(workspace)],
    ["started", startedAt],
    ["reason", reason === null ? null : `\`${reason}\`${message === null ? "" : ` ${cell(message)}`}`],
    ["question", report.question === null ? null : cell(report.question.text)],
    ["iterations", String(finishedIterations(report))],
    ...totals(report),
    ["background", backgroundOf(report)],
    ["baseline", report.baseline.length === 0 ? null : baselineWords(report.baseline, code)],
    ...worktreeRows(report).map(([name, value]): Row => [name, value === null ? null : code(value)]),
  ];
  const lines = rows.flatMap(([name, value]) => (value === null ? [] : [`| ${name} | ${value} |`]));
  return ["| | |", "|---|---|", ...lines].join("\n");
}

function iterationTable(report: Report): string {
  const { iterations } = report;
  if (iterations.length === 0) return "";
  const others = hasOtherAgents(report);
  const rows = iterations.map((iteration) => {
    const { durationMs, costUsd, costEstimated, inputTokens, outputTokens } = iteration;
    const cells = [
      String(iteration.iteration),
      formatDuration(durationMs),
      costUsd === null ? "" : formatCost(costUsd, costEstimated),
      inputTokens + outputTokens === 0 ? "" : `${formatCount(inputTokens)} / ${formatCount(outputTokens)}`,
      passedOf(iteration) ?? "",
      ...(others ? [cell(iteration.agent ?? "")] : []),
      cell(resultOf(iteration)),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const head = [
    `| # | time | cost | tokens in / out | checks |${others ? " agent |" : ""} outcome |`,
    `|--:|--:|--:|--:|--:|${others ? "---|" : ""}---|`,
  ];
  return ["## Iterations", "", ...head, ...rows].join("\n");
}

function storyTable({ stories }: Report): string {
  if (stories.length === 0) return "";
  const rows = stories.map(({ story, title, state, reviews, atCap, iterations, costUsd, violations }) => {
    const cells = [
      cell(story),
      cell(title),
      cell(`${state ?? ""}${atCap ? " (at the cap)" : ""}`),
      String(reviews),
      String(iterations),
      costUsd === null ? "" : formatCost(costUsd),
      violations === 0 ? "" : String(violations),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const head = [
    "| story | title | state | reviews | iterations | cost | violations |",
    "|---|---|---|--:|--:|--:|--:|",
  ];
  return ["## Stories", "", ...head, ...rows].join("\n");
}

/** Of long runs the latest iterations. */
function checkTable(report: Report): string {
  const commands = checkCommands(report);
  if (commands.length === 0) return "";
  const shown = report.iterations.slice(-MAX_COLUMNS);
  const title =
    shown.length < report.iterations.length ? `## Checks (the last ${MAX_COLUMNS} iterations)` : "## Checks";
  const legend = skippedLegend(report);
  const rows = commands.map((command) => {
    const marks = shown.map((iteration) => checkMark(iteration, command, ["✅", "❌"]));
    const became = becameIn(report, command);
    return `| ${code(command)}${became === undefined ? "" : ` (${became})`} | ${marks.join(" | ")} |`;
  });
  return [
    title,
    "",
    `| check | ${shown.map(({ iteration }) => iteration).join(" | ")} |`,
    `|---|${shown.map(() => ":-:").join("|")}|`,
    ...rows,
    ...(legend === undefined ? [] : ["", legend]),
  ].join("\n");
}

function fileList({ files, filesChanged }: Report): string {
  if (files.length === 0) return "";
  const shown = files.slice(0, MAX_FILES);
  const more = (filesChanged ?? files.length) - shown.length;
  const lines = [...shown.map(fileLine), ...(more > 0 ? [`- and ${more} more`] : [])];
  return ["## Files changed", "", ...lines].join("\n");
}

function fileLine({ path, change, added, removed }: FileChange): string {
  const lines = added === null || removed === null ? "" : ` (+${added} −${removed})`;
  return `- ${code(path)} ${change}${lines}`;
}

function details(iteration: IterationReport): string {
  const failed = iteration.checks.filter(hasFailed);
  const parts = [
    ...(iteration.error === null ? [] : [`The agent failed: ${cell(iteration.error)}`]),
    ...(iteration.finalMessage.trim() === "" ? [] : [fenced(iteration.finalMessage)]),
    ...iteration.violations.map(({ what }) => `❌ ${cell(what)}`),
    ...failed.map(failure),
    ...iteration.scm.map(
      ({ task, passed, message }) => `${passed ? "✅" : "❌"} ${cell(task)}: ${cell(message)}`,
    ),
  ];
  if (parts.length === 0) return "";
  const title = `Iteration ${iteration.iteration}: ${cell(resultOf(iteration))}`;
  return [`<details><summary>${title}</summary>`, ...parts, "</details>"].join("\n\n");
}

function failure(check: CheckReport): string {
  const shown = check.output.trim() === "" ? "" : `\n\n${fenced(check.output)}`;
  return `❌ ${code(check.command)} (${endingOf(check)})${shown}`;
}

const MAX_CELL_CHARS = 500;

/** One line of plain text, wherever it stands: in a cell, in a tag, in prose. */
function cell(text: string): string {
  const line = harmlessLine(text.slice(0, MAX_CELL_CHARS * 2)).trim();
  const shown = line.length <= MAX_CELL_CHARS ? line : `${line.slice(0, MAX_CELL_CHARS - 1)}…`;
  // Entities are never markup, and a name behind an invisible space is nobody's.
  return shown
    .replace(/[^\w\s.,;()…/·-]/gu, (sign) => `&#${sign.codePointAt(0)};`)
    .replaceAll("&#64;", "&#64;&#8203;");
}

function code(text: string): string {
  return `<code>${cell(text)}</code>`;
}

/** The end of it, in a fence that nothing inside can close. */
function fenced(text: string): string {
  const clean = harmless(text).trim();
  const shown = clean.length <= MAX_MESSAGE_CHARS ? clean : `[…]\n${clean.slice(-MAX_MESSAGE_CHARS)}`;
  const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}text\n${shown}\n${fence}`;
}

function longestRun(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);
}
