import { formatDuration } from "../../duration.js";
import type { FileChange } from "../../events.js";
import type { IterationReport } from "../../records/iteration.js";
import { checkCommands, type Report } from "../../records/report.js";
import { commandName, costCell, localMoment } from "../figures.js";
import type { Formatter } from "../format.js";
import { firstLine, harmless, harmlessLine } from "../harmless.js";
import { pad, widthOf } from "../layout.js";
import { rowLines } from "../summary.js";
import { tableLines } from "../table.js";
import {
  becameIn,
  checkMark,
  endOf,
  factsOf,
  filesOf,
  iterationTable,
  type ReportTable,
  skippedLegend,
  standingOf,
  titleOf,
} from "./words.js";

const MAX_FILES = 30;
const MAX_LINES = 10;
const INDENT = "  ";

/** The report as people read it in a terminal. */
export function textReport(report: Report, format: Formatter, width: number | undefined): string[] {
  const { mark, paint } = format;
  const looks = {
    done: ["green", mark.ok],
    open: ["yellow", mark.active],
    failed: ["red", mark.error],
  } as const;
  const [color, sign] = looks[standingOf(report)];
  const room = width === undefined ? undefined : width - INDENT.length;
  return [
    paint(color, `${sign} ${titleOf(report)}`),
    ...rowLines(factsOf(report)),
    ...section("Iterations", table(iterationTable(report), room)),
    ...section("Stories", table(storyTable(report), room)),
    ...section("Usage limits", limitLines(report)),
    ...section("Violations", violationLines(report, format)),
    ...section("Checks", checkLines(report, format, width)),
    ...section("SCM", scmLines(report, format)),
    ...section("Files changed", fileLines(report)),
    ...lastWords(report),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `${INDENT}${line}`.trimEnd())];
}

function table({ rows: [head = [], ...rows], right }: ReportTable, width: number | undefined): string[] {
  if (rows.length === 0) return [];
  return tableLines([head.map((name) => name.toUpperCase()), ...rows], { width, right });
}

function storyTable({ stories }: Report): ReportTable {
  const rows = stories.map(({ story, state, reviews, atCap, iterations, costUsd, durationMs, title }) => [
    story,
    state ?? "-",
    `${reviews}${atCap ? " (cap)" : ""}`,
    String(iterations),
    costCell(costUsd),
    formatDuration(durationMs),
    title,
  ]);
  const head = ["story", "state", "reviews", "iter", "cost", "time", "title"];
  return { rows: [head, ...rows], right: [2, 3, 4, 5] };
}

/** Of what may be in every iteration, the last ones. */
function latest({ iterations }: Report, linesOf: (iteration: IterationReport) => string[]): string[] {
  return iterations.flatMap(linesOf).slice(-MAX_LINES);
}

function limitLines(report: Report): string[] {
  return latest(report, ({ iteration, waits }) =>
    waits.map(({ agent, from, until }) => {
      const times = `from ${localMoment(from, until)} until ${localMoment(until, from)}`;
      return `${harmlessLine(agent)} in iteration ${iteration}: waited ${times}`;
    }),
  );
}

function violationLines(report: Report, { mark }: Formatter): string[] {
  return latest(report, ({ iteration, violations }) =>
    violations.map(({ what }) => `${mark.fail} in iteration ${iteration}: ${harmlessLine(firstLine(what))}`),
  );
}

/** A row per check, a mark per iteration; of long runs the latest ones. */
function checkLines(report: Report, { mark }: Formatter, width = Number.POSITIVE_INFINITY): string[] {
  const commands = checkCommands(report);
  const longest = Math.max(0, ...commands.map((command) => widthOf(commandName(command))));
  const lines = commands.map((command) => {
    const marks = report.iterations.map((iteration) => checkMark(iteration, command, [mark.pass, mark.fail]));
    const shown = marks.slice(-Math.max(10, width - longest - 6));
    const became = becameIn(report, command);
    const signs = `${shown.length < marks.length ? "…" : ""}${shown.join("")}`;
    return `${pad(commandName(command), longest)}  ${signs}${became === undefined ? "" : `  ${became}`}`;
  });
  return [...lines, ...skippedLegend(report)];
}

/** What became of commits and pushes: the failures, and the last one that worked. */
function scmLines(report: Report, { mark }: Formatter): string[] {
  const last = report.iterations.flatMap(({ scm }) => scm).at(-1);
  return latest(report, ({ iteration, scm }) =>
    scm
      .filter((task) => !task.passed || task === last)
      .map(({ task, passed, message }) => {
        const sign = passed ? mark.pass : mark.fail;
        return `${sign} ${harmlessLine(task)} in iteration ${iteration}: ${harmlessLine(firstLine(message))}`;
      }),
  );
}

const LETTERS: Record<FileChange["change"], string> = { added: "A", modified: "M", deleted: "D" };

function fileLines(report: Report): string[] {
  const { shown, more } = filesOf(report, MAX_FILES);
  const lines = shown.map(({ path, change, added, removed }) => {
    const counts = added === null || removed === null ? "" : `  +${added} -${removed}`;
    return `${LETTERS[change]} ${harmless(path).replace(/\n/g, "?")}${counts}`;
  });
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/** The last words of an agent, or why the last one failed. */
function lastWords({ iterations }: Report): string[] {
  const last = iterations.findLast(({ finalMessage, error }) => finalMessage !== "" || error !== null);
  if (last === undefined) return [];
  const { error, finalMessage, iteration } = last;
  const title = error === null ? "Final message of iteration" : "The agent failed in iteration";
  const words = harmless(endOf(error ?? finalMessage)).trim();
  return section(`${title} ${iteration}`, words.split("\n"));
}
