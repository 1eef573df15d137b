import type { IterationReport } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { COMMAND_CHARS, type Formatter, localMoment } from "../figures.js";
import { firstLine, harmless, harmlessLine } from "../harmless.js";
import { hanging, tableLines } from "../layout.js";
import { rowLines, STANDINGS } from "../summary.js";
import * as facts from "./facts.js";
import { numberOf } from "./shapes.js";

const MAX_FILES = 30;
const MAX_LINES = 10;
const INDENT = "  ";

export function textReport(
  report: Report,
  { mark, paint }: Formatter,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const [color, sign] = STANDINGS[facts.standingOf(report)];
  const table = ({ title, head, rows, right, note }: facts.ReportTable): string[] => {
    if (rows.length === 0) return [];
    const cells = [head.map((name) => name.toUpperCase()), ...rows];
    const lines = tableLines(cells, { width: width - INDENT.length, right });
    return section(title, note === undefined ? lines : [...lines, note]);
  };
  const lastScm = report.iterations.flatMap(({ scm }) => scm).at(-1);
  return [
    paint(color, `${mark[sign]} ${facts.titleOf(report)}`),
    ...rowLines(facts.factsOf(report), (start, text) => hanging(start, text, width - 1)),
    ...table(facts.iterationTable(report)),
    ...table(facts.storyTable(report)),
    ...latest("Usage limits", report, ({ waits }) =>
      waits.map(({ agent, from, until }) => {
        const times = `from ${localMoment(from, until)} until ${localMoment(until, from)}`;
        return [`${agent} in`, `waited ${times}`];
      }),
    ),
    ...latest("Violations", report, ({ violations }) =>
      violations.map(({ what }) => [`${mark.fail} in`, what]),
    ),
    ...table(
      facts.checkTable(report, [mark.pass, mark.fail], { maxSigns: width / 2, maxChars: COMMAND_CHARS }),
    ),
    // The failures, and the last one that worked.
    ...latest("SCM", report, ({ scm }) =>
      scm
        .filter((one) => !one.passed || one === lastScm)
        .map(({ task, passed, message }) => [`${passed ? mark.pass : mark.fail} ${task} in`, message]),
    ),
    ...table(facts.fileTable(report, MAX_FILES)),
    ...lastWords(report),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `${INDENT}${line}`.trimEnd())];
}

/** The last ones of what every iteration may have: a title, and a text. */
function latest(
  title: string,
  { iterations }: Report,
  found: (iteration: IterationReport) => [what: string, words: string][],
): string[] {
  const lines = iterations.flatMap((one) =>
    found(one).map(([what, words]) =>
      harmlessLine(`${what} iteration ${numberOf(one)}: ${firstLine(words)}`),
    ),
  );
  return section(title, lines.slice(-MAX_LINES));
}

function lastWords({ iterations }: Report): string[] {
  const last = iterations.findLast(({ finalMessage, error }) => finalMessage !== "" || error !== null);
  if (last === undefined) return [];
  const { error, finalMessage } = last;
  const title = error === null ? "Final message of iteration" : "The agent failed in iteration";
  const words = harmless(facts.endOf(error ?? finalMessage)).trim();
  return section(`${title} ${numberOf(last)}`, words.split("\n"));
}
