import { type CheckReport, hasFailed, type IterationReport } from "../../records/iteration.js";
import { checkCommands, type Report } from "../../records/report.js";
import { endingOf, formatCost } from "../figures.js";
import { brief, harmless, harmlessLine } from "../harmless.js";
import {
  becameIn,
  checkMark,
  endOf,
  factsOf,
  filesOf,
  iterationTable,
  type ReportTable,
  resultOf,
  skippedLegend,
  standingOf,
  titleOf,
} from "./words.js";

const SIGNS = { done: "✅", open: "🔄", failed: "❌" };
const MAX_FILES = 50;
const MAX_COLUMNS = 20;
const MAX_DETAILS = 50;

/** The report for a pull request, an issue or a job summary. */
export function markdownReport(report: Report): string {
  const parts = [
    `# ${SIGNS[standingOf(report)]} ${titleOf(report)}`,
    facts(report),
    table("Iterations", iterationTable(report)),
    table("Stories", storyTable(report)),
    checkTable(report),
    fileList(report),
    ...report.iterations.slice(-MAX_DETAILS).map(details),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** What somebody may want to copy, and what nobody but ralph has written. */
const AS_CODE = ["run", "workspace", "worktree", "merge", "clean up", "answer", "resume"];
const OWN = ["started", "cost"];

function facts(report: Report): string {
  const shown = (name: string, value: string): string => {
    if (OWN.includes(name)) return value;
    return AS_CODE.includes(name) ? code(value) : cell(value);
  };
  const lines = factsOf(report).flatMap(([name, value]) =>
    value === null ? [] : [`| ${name} | ${shown(name, value)} |`],
  );
  return ["| | |", "|---|---|", ...lines].join("\n");
}

function table(title: string, { rows: [head = [], ...rows], right }: ReportTable): string {
  if (rows.length === 0) return "";
  return [
    `## ${title}`,
    "",
    `| ${head.join(" | ")} |`,
    `|${head.map((_, column) => (right.includes(column) ? "--:" : "---")).join("|")}|`,
    ...rows.map((row) => {
      const cells = row.map((text, column) => (right.includes(column) ? text : cell(text)));
      return `| ${cells.join(" | ")} |`;
    }),
  ].join("\n");
}

function storyTable({ stories }: Report): ReportTable {
  const rows = stories.map(({ story, title, state, reviews, atCap, iterations, costUsd, violations }) => [
    story,
    title,
    `${state ?? ""}${atCap ? " (at the cap)" : ""}`,
    String(reviews),
    String(iterations),
    costUsd === null ? "" : formatCost(costUsd),
    violations === 0 ? "" : String(violations),
  ]);
  const head = ["story", "title", "state", "reviews", "iterations", "cost", "violations"];
  return { rows: [head, ...rows], right: [3, 4, 5, 6] };
}

/** Of long runs the latest iterations. */
function checkTable(report: Report): string {
  const commands = checkCommands(report);
  if (commands.length === 0) return "";
  const shown = report.iterations.slice(-MAX_COLUMNS);
  const isCut = shown.length < report.iterations.length;
  const rows = commands.map((command) => {
    const marks = shown.map((iteration) => checkMark(iteration, command, ["✅", "❌"]));
    const became = becameIn(report, command);
    return `| ${code(command)}${became === undefined ? "" : ` (${became})`} | ${marks.join(" | ")} |`;
  });
  return [
    isCut ? `## Checks (the last ${MAX_COLUMNS} iterations)` : "## Checks",
    "",
    `| check | ${shown.map(({ iteration }) => iteration).join(" | ")} |`,
    `|---|${shown.map(() => ":-:").join("|")}|`,
    ...rows,
    ...skippedLegend(report).flatMap((legend) => ["", legend]),
  ].join("\n");
}

function fileList(report: Report): string {
  const { shown, more } = filesOf(report, MAX_FILES);
  if (shown.length === 0) return "";
  const lines = shown.map(({ path, change, added, removed }) => {
    const counts = added === null || removed === null ? "" : ` (+${added} −${removed})`;
    return `- ${code(path)} ${change}${counts}`;
  });
  return ["## Files changed", "", ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

function details(iteration: IterationReport): string {
  const parts = [
    ...(iteration.error === null ? [] : [`The agent failed: ${cell(iteration.error)}`]),
    ...(iteration.finalMessage.trim() === "" ? [] : [fenced(iteration.finalMessage)]),
    ...iteration.violations.map(({ what }) => `❌ ${cell(what)}`),
    ...iteration.checks.filter(hasFailed).map(failure),
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
  // Entities are never markup, and a name behind an invisible space is nobody's.
  return brief(line, MAX_CELL_CHARS)
    .replace(/[^\w\s.,;()…/·-]/gu, (sign) => `&#${sign.codePointAt(0)};`)
    .replaceAll("&#64;", "&#64;&#8203;");
}

function code(text: string): string {
  return `<code>${cell(text)}</code>`;
}

/** The end of it, in a fence that nothing inside can close. */
function fenced(text: string): string {
  const shown = endOf(harmless(text).trim());
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}`;
}
