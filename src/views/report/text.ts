import { formatDuration } from "../../duration.js";
import type { FileChange } from "../../events.js";
import type { IterationReport } from "../../records/iteration.js";
import { checkCommands, finishedIterations, type Report } from "../../records/report.js";
import { baselineWords } from "../checks.js";
import { formatCost, formatCount } from "../figures.js";
import type { Formatter } from "../format.js";
import { brief, firstLine, harmless, harmlessLine } from "../harmless.js";
import { localMoment } from "../local-moment.js";
import { howToResume, questionRows, type Row, rowLines, totals, worktreeRows } from "../summary.js";
import { tableLines } from "../table.js";
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

const MAX_FILES = 30;

/** The report as people read it in a terminal. */
export function textReport(report: Report, format: Formatter, width: number | undefined): string[] {
  return [
    heading(report, format),
    ...rowLines(facts(report)),
    ...section("Iterations", iterationLines(report, width)),
    ...section("Stories", storyLines(report, width)),
    ...section("Usage limits", limitLines(report)),
    ...section("Violations", violationLines(report, format)),
    ...section("Checks", checkLines(report, format, width)),
    ...section("SCM", scmLines(report, format)),
    ...section("Files changed", fileLines(report)),
    ...section(...lastWords(report)),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`.trimEnd())];
}

function heading(report: Report, { mark, paint }: Formatter): string {
  const looks = {
    done: ["green", mark.ok],
    open: ["yellow", mark.active],
    failed: ["red", mark.error],
  } as const;
  const [color, sign] = looks[standingOf(report)];
  return paint(color, `${sign} ${titleOf(report)}`);
}

function facts(report: Report): Row[] {
  const { run, recipe, agent, workspace, startedAt, reason, message, success, status } = report;
  const goesOn = status === "running" ? null : howToResume(run, report);
  return [
    ["run", run],
    ["task", report.task === "" ? null : brief(report.task)],
    ["recipe", recipe],
    ["agent", harmless(agent)],
    ["workspace", harmless(workspace)],
    ["started", startedAt.slice(0, 19).replace("T", " ").concat(" UTC")],
    ["reason", reason === null ? null : whyItStopped(reason, message)],
    ["iterations", String(finishedIterations(report))],
    ...totals(report),
    ["background", backgroundOf(report)],
    ["baseline", report.baseline.length === 0 ? null : baselineWords(report.baseline, shorten)],
    ...worktreeRows(report),
    ...(success ? [] : questionRows(run, report.question)),
    ["resume", goesOn],
  ];
}

function whyItStopped(reason: string, message: string | null): string {
  return message === null ? reason : `${reason} (${harmless(firstLine(message))})`;
}

const NUMBERS = [0, 1, 2, 3, 4];

function iterationLines(report: Report, width: number | undefined): string[] {
  const { iterations } = report;
  if (iterations.length === 0) return [];
  const others = hasOtherAgents(report);
  const rows = iterations.map((iteration) => [
    String(iteration.iteration),
    formatDuration(iteration.durationMs),
    iteration.costUsd === null ? "-" : formatCost(iteration.costUsd, iteration.costEstimated),
    tokensOf(iteration),
    passedOf(iteration) ?? "-",
    ...(others ? [harmlessLine(iteration.agent ?? "-")] : []),
    resultOf(iteration),
  ]);
  const head = ["#", "TIME", "COST", "TOKENS", "CHECKS", ...(others ? ["AGENT"] : []), "OUTCOME"];
  const room = width === undefined ? undefined : width - 2;
  const elastic = head.length - 1;
  return tableLines([head, ...rows], { width: room, elastic, keep: "start", right: NUMBERS });
}

function storyLines({ stories }: Report, width: number | undefined): string[] {
  if (stories.length === 0) return [];
  const rows = stories.map((story) => [
    story.story,
    story.state ?? "-",
    `${story.reviews}${story.atCap ? " (cap)" : ""}`,
    String(story.iterations),
    story.costUsd === null ? "-" : formatCost(story.costUsd),
    formatDuration(story.durationMs),
    story.title,
  ]);
  const head = ["STORY", "STATE", "REVIEWS", "ITER", "COST", "TIME", "TITLE"];
  const room = width === undefined ? undefined : width - 2;
  return tableLines([head, ...rows], { width: room, elastic: 6, keep: "start", right: [2, 3, 4, 5] });
}

const MAX_WAITS = 10;

function limitLines({ iterations }: Report): string[] {
  const all = iterations.flatMap(({ iteration, waits }) =>
    waits.map(({ agent, from, until }) => {
      const moment = localMoment(until, from);
      return `${harmlessLine(agent)} in iteration ${iteration}: waited from ${localMoment(from, until)} until ${moment}`;
    }),
  );
  return all.slice(-MAX_WAITS);
}

const MAX_VIOLATIONS = 10;

function violationLines({ iterations }: Report, { mark }: Formatter): string[] {
  const all = iterations.flatMap(({ iteration, violations }) =>
    violations.map(({ what }) => `${mark.fail} in iteration ${iteration}: ${harmlessLine(firstLine(what))}`),
  );
  return all.slice(-MAX_VIOLATIONS);
}

function tokensOf({ inputTokens, outputTokens }: IterationReport): string {
  return inputTokens + outputTokens === 0 ? "-" : `${formatCount(inputTokens)}/${formatCount(outputTokens)}`;
}

const MAX_COMMAND_CHARS = 40;

/** A row per check, a mark per iteration; of long runs the latest ones. */
function checkLines(report: Report, { mark }: Formatter, width = Number.POSITIVE_INFINITY): string[] {
  const commands = checkCommands(report);
  const names = commands.map(shorten);
  const longest = names.reduce((widest, name) => Math.max(widest, name.length), 0);
  const lines = commands.map((command, index) => {
    const marks = report.iterations.map((iteration) => checkMark(iteration, command, [mark.pass, mark.fail]));
    const shown = marks.slice(-Math.max(10, width - longest - 6));
    const became = becameIn(report, command);
    const signs = `${shown.length < marks.length ? "…" : ""}${shown.join("")}`;
    return `${(names[index] ?? "").padEnd(longest)}  ${signs}${became === undefined ? "" : `  ${became}`}`;
  });
  const legend = skippedLegend(report);
  return legend === undefined ? lines : [...lines, legend];
}

function shorten(command: string): string {
  const text = harmless(firstLine(command));
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

/** The last words of an agent, or why the last one failed. */
function lastWords({ iterations }: Report): [title: string, lines: string[]] {
  const last = iterations.findLast(({ finalMessage, error }) => finalMessage !== "" || error !== null);
  if (last === undefined) return ["", []];
  const { error, finalMessage, iteration } = last;
  const title =
    error === null ? `Final message of iteration ${iteration}` : `The agent failed in iteration ${iteration}`;
  return [
    title,
    harmless(end(error ?? finalMessage))
      .trim()
      .split("\n"),
  ];
}

const MAX_MESSAGE_CHARS = 4000;

function end(text: string): string {
  return text.length <= MAX_MESSAGE_CHARS ? text : `[…]\n${text.slice(-MAX_MESSAGE_CHARS)}`;
}

/** What became of commits and pushes: the failures, and the last one that worked. */
function scmLines({ iterations }: Report, { mark }: Formatter): string[] {
  const all = iterations.flatMap(({ iteration, scm }) => scm.map((task) => ({ iteration, ...task })));
  const shown = all.filter((task, index) => !task.passed || index === all.length - 1).slice(-MAX_SCM);
  return shown.map(({ iteration, task, passed, message }) => {
    const sign = passed ? mark.pass : mark.fail;
    return `${sign} ${harmlessLine(task)} in iteration ${iteration}: ${harmlessLine(firstLine(message))}`;
  });
}

const MAX_SCM = 10;
