import { formatDuration } from "../../duration.js";
import type { FileChange } from "../../events.js";
import { type Formatter, firstLine, formatCost, formatCount, harmless } from "../format.js";
import { howToResume, type Row, rowLines, totals } from "../summary.js";
import { tableLines } from "../table.js";
import { checkCommands, type IterationReport, type Report } from "./model.js";
import { checkMark, passedOf, resultOf, titleOf } from "./words.js";

const MAX_FILES = 30;

/** The report as people read it in a terminal. */
export function textReport(report: Report, format: Formatter, width: number | undefined): string[] {
  return [
    heading(report, format),
    ...rowLines(facts(report)),
    ...section("Iterations", iterationLines(report, width)),
    ...section("Checks", checkLines(report, format, width)),
    ...section("Files changed", fileLines(report)),
    ...section(...lastWords(report)),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`.trimEnd())];
}

function heading(report: Report, { mark, paint }: Formatter): string {
  if (report.success) return paint("green", `${mark.ok} ${titleOf(report)}`);
  const waits = report.status === "running" || report.status === "paused";
  return waits
    ? paint("yellow", `${mark.active} ${titleOf(report)}`)
    : paint("red", `${mark.error} ${titleOf(report)}`);
}

function facts(report: Report): Row[] {
  const { run, recipe, agent, workspace, startedAt, reason, message, success, status, iterations } = report;
  const goesOn = status === "running" ? null : howToResume(run, reason);
  return [
    ["run", run],
    ["recipe", recipe],
    ["agent", harmless(agent)],
    ["workspace", harmless(workspace)],
    ["started", startedAt.slice(0, 19).replace("T", " ").concat(" UTC")],
    ["reason", reason === null ? null : whyItStopped(reason, message)],
    ["iterations", String(iterations.filter(({ finished }) => finished).length)],
    ...totals(report),
    ["resume", success ? null : goesOn],
  ];
}

function whyItStopped(reason: string, message: string | null): string {
  return message === null ? reason : `${reason} (${harmless(firstLine(message))})`;
}

const NUMBERS = [0, 1, 2, 3, 4];

function iterationLines({ iterations }: Report, width: number | undefined): string[] {
  if (iterations.length === 0) return [];
  const rows = iterations.map((iteration) => [
    String(iteration.iteration),
    formatDuration(iteration.durationMs),
    iteration.costUsd === null ? "-" : formatCost(iteration.costUsd),
    tokensOf(iteration),
    passedOf(iteration) ?? "-",
    resultOf(iteration),
  ]);
  const head = ["#", "TIME", "COST", "TOKENS", "CHECKS", "OUTCOME"];
  const room = width === undefined ? undefined : width - 2;
  return tableLines([head, ...rows], { width: room, elastic: 5, keep: "start", right: NUMBERS });
}

function tokensOf({ inputTokens, outputTokens }: IterationReport): string {
  return inputTokens + outputTokens === 0 ? "-" : `${formatCount(inputTokens)}/${formatCount(outputTokens)}`;
}

const MAX_COMMAND_CHARS = 40;

/** A row per check, a mark per iteration; of long runs the latest ones. */
function checkLines(report: Report, { mark }: Formatter, width = Number.POSITIVE_INFINITY): string[] {
  const commands = checkCommands(report);
  const names = commands.map((command) => shorten(harmless(firstLine(command))));
  const longest = Math.max(...names.map((name) => name.length));
  return commands.map((command, index) => {
    const marks = report.iterations.map((iteration) => checkMark(iteration, command, [mark.pass, mark.fail]));
    const shown = marks.slice(-Math.max(10, width - longest - 6));
    return `${(names[index] ?? "").padEnd(longest)}  ${shown.length < marks.length ? "…" : ""}${shown.join("")}`;
  });
}

function shorten(text: string): string {
  return text.length <= MAX_COMMAND_CHARS ? text : `${text.slice(0, MAX_COMMAND_CHARS - 1)}…`;
}

const LETTERS: Record<FileChange["change"], string> = { added: "A", modified: "M", deleted: "D" };

function fileLines({ files, filesChanged }: Report): string[] {
  const shown = files.slice(0, MAX_FILES).map(fileLine);
  const more = (filesChanged ?? files.length) - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function fileLine({ path, change, added, removed }: FileChange): string {
  const lines = added === null || removed === null ? "" : `  +${added} -${removed}`;
  return `${LETTERS[change]} ${harmless(path).replace(/\n/g, "?")}${lines}`;
}

function lastWords({ iterations }: Report): [title: string, lines: string[]] {
  const last = iterations.findLast(({ finalMessage, error }) => finalMessage !== "" || error !== null);
  if (last === undefined) return ["", []];
  const words = [...(last.error === null ? [] : [`failed: ${last.error}`]), last.finalMessage];
  return [`Final message of iteration ${last.iteration}`, harmless(words.join("\n")).trim().split("\n")];
}
