import { hasFailed, type IterationReport } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { fenced as fencedAs } from "../../verify/excerpt.js";
import { endingOf } from "../figures.js";
import { brief, harmless, harmlessLine } from "../harmless.js";
import * as facts from "./facts.js";
import { numberOf } from "./shapes.js";

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
  const title = `Iteration ${cell(numberOf(iteration))}: ${cell(facts.resultOf(iteration))}`;
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

/** The runner of GitHub Actions reads the output of a step: some lines are commands to it. */

/** ralph's own: failures of the last iteration as errors, success as a notice. */
export function annotations(report: Report): string[] {
  if (report.exitCode === 0) return [command("notice", "ralph", facts.titleOf(report))];
  const last = report.iterations.findLast(({ finished }) => finished);
  const failed = last?.checks.filter(hasFailed) ?? [];
  const reason =
    report.message === null ? facts.titleOf(report) : `${facts.titleOf(report)}: ${report.message}`;
  const errors = failed.map((check) => {
    const how = [endingOf(check), facts.becameIn(report, check.command)].filter(Boolean).join(", ");
    return command("error", `${check.command} (${how})`, check.output.trim() || "no output");
  });
  return [command("error", "ralph", reason), ...errors];
}

/** Line breaks would end the command, and begin another. */
function command(kind: "notice" | "error", title: string, message: string): string {
  const data = (text: string): string =>
    harmless(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const line = data(title.replace(/\s+/g, " ").trim()).replaceAll(":", "%3A").replaceAll(",", "%2C");
  return `::${kind} title=${line}::${data(message)}`;
}

/** A step may have a summary of one MiB; of a longer one GitHub would show nothing. */
const MAX_SUMMARY_BYTES = 1024 * 1024;
const LEFT_OUT = "\n\nThe rest is cut: a summary holds at most 1 MiB. `ralph report` shows everything.\n";
/** The message of an iteration is a folded section, shown whole or not at all. */
const PART_END = "\n</details>";

/** The report for a summary that already has so many bytes. Empty where nothing more fits. */
export function stepSummary(report: Report, alreadyBytes: number): string {
  const whole = Buffer.from(markdownReport(report));
  const room = MAX_SUMMARY_BYTES - alreadyBytes;
  if (whole.length <= room) return whole.toString();
  const cut = whole.subarray(0, Math.max(room - LEFT_OUT.length, 0)).toString();
  const end = cut.lastIndexOf(PART_END);
  return end === -1 ? "" : `${cut.slice(0, end)}${PART_END}${LEFT_OUT}`;
}

/** A command stands at the beginning of a line, after nothing but white space, or after `##[` anywhere in it. */
const AT_LINE_START = /(^|[\r\n])((?:[^\S\r\n]|\u0085)*)::/g;
const ANYWHERE = /##\[/g;

/** The same text as the runner would show it, with nothing to obey. JSON stays the same JSON. */
export function withoutCommands(text: string): string {
  return text.replace(AT_LINE_START, "$1$2\\::").replace(ANYWHERE, "##\\u005b");
}

const unguarded = new Map<NodeJS.WriteStream, (text: string) => boolean>();

/** No output of agents and checks may be a command: all of it passes here. */
export function guardOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    unguarded.set(stream, write);
    stream.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean =>
      Reflect.apply(write, stream, [typeof chunk === "string" ? withoutCommands(chunk) : chunk, ...more]);
  }
}

export function tellRunner(stream: NodeJS.WriteStream, words: string): void {
  const write = unguarded.get(stream) ?? stream.write.bind(stream);
  write(`${words}\n`);
}
