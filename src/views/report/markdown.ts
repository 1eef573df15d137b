import { hasFailed, type IterationReport } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { fenced as fencedAs } from "../../verify/excerpt.js";
import { endingOf } from "../figures.js";
import { brief, harmless, harmlessLine } from "../harmless.js";
import * as facts from "./facts.js";

const SIGNS = { done: "✅", unverified: "⚠️", open: "🔄", failed: "❌" };
const MAX_FILES = 50;
const MAX_SIGNS = 100;
const MAX_DETAILS = 50;

export function markdownReport(report: Report): string {
  const rows = facts.factsOf(report).flatMap(([name, value]) => {
    if (value == null) return [];
    return [`| ${name} | ${facts.COPIED.includes(name) ? code(value) : cell(value)} |`];
  });
  const parts = [
    `# ${SIGNS[facts.standingOf(report)]} ${facts.titleOf(report)}`,
    ["| | |", "|---|---|", ...rows].join("\n"),
    table(facts.iterationTable(report)),
    table(facts.storyTable(report)),
    table(facts.checkTable(report, ["✅", "❌"], { maxSigns: MAX_SIGNS })),
    table(facts.fileTable(report, MAX_FILES)),
    ...report.iterations.slice(-MAX_DETAILS).map(details),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function table({ title, head, rows, right, named, note }: facts.ReportTable): string {
  if (rows.length === 0) return "";
  const shown = (text: string, column: number): string => {
    if (right.includes(column)) return text;
    return column === named ? code(text) : cell(text);
  };
  return [
    `## ${title}`,
    "",
    `| ${head.join(" | ")} |`,
    `|${head.map((_, column) => (right.includes(column) ? "--:" : "---")).join("|")}|`,
    ...rows.map((row) => `| ${row.map(shown).join(" | ")} |`),
    ...(note === undefined ? [] : ["", note]),
  ].join("\n");
}

function details(iteration: IterationReport): string {
  const { error, finalMessage, violations, checks, scm } = iteration;
  const parts = [
    error === null ? "" : `The agent failed: ${cell(error)}`,
    fenced(facts.endOf(finalMessage)),
    ...violations.map(({ what }) => `❌ ${cell(what)}`),
    ...checks
      .filter(hasFailed)
      .flatMap((check) => [`❌ ${code(check.command)} (${endingOf(check)})`, fenced(check.output)]),
    ...scm.map(({ task, passed, message }) => `${passed ? "✅" : "❌"} ${cell(task)}: ${cell(message)}`),
  ].filter((part) => part !== "");
  if (parts.length === 0) return "";
  const title = `Iteration ${iteration.iteration}: ${cell(facts.resultOf(iteration))}`;
  return [`<details><summary>${title}</summary>`, ...parts, "</details>"].join("\n\n");
}

const MAX_CELL_CHARS = 500;

/** One line of plain text, wherever it stands: in a cell, in a tag, in prose. */
export function cell(text: string): string {
  const line = harmlessLine(text.slice(0, MAX_CELL_CHARS * 2)).trim();
  // Entities are never markup, and a name behind an invisible space is nobody's.
  return brief(line, MAX_CELL_CHARS)
    .replace(/[^\w\s.,;()…/·+✅❌-]/gu, (sign) => `&#${sign.codePointAt(0)};`)
    .replaceAll("&#64;", "&#64;&#8203;");
}

export function code(text: string): string {
  return `<code>${cell(text)}</code>`;
}

export function fenced(text: string): string {
  const shown = harmless(text).trim();
  return shown === "" ? "" : fencedAs(shown, "text");
}
