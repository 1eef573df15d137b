import type { CheckReport, IterationReport } from "../../records/iteration.js";
import { wasNotRun } from "../../records/iteration.js";
import { parseLine } from "../../records/read.js";
import { type Fold, iterationsOf, type Report, reportFrom } from "../../records/report.js";
import { initialState, type RunState } from "../../records/run-state.js";
import type { RunFolder } from "../../records/runs.js";
import { steeringOf } from "../../records/words.js";
import { stopRow } from "../../stop-reasons.js";
import { costCell, formatTokens, joined, plural } from "../../views/figures.js";
import { brief } from "../../views/harmless.js";
import { outcomeOf, outcomeOfRun, timesOf } from "../../views/report/charts.js";
import * as words from "../../views/report/facts.js";
import type { Action, CheckWords, IterationDetail, IterationPage, Look, RunPage, RunRow } from "../api.js";
import { growing } from "./journal.js";
import { laneCards } from "./lanes.js";
import { filesOf } from "./record-files.js";
import { storyCards } from "./stories.js";
import { endOf } from "./text.js";

/** What a run came to so far. */
const readingOf = growing<Fold & { unreadable: number }>(
  ({ id }) => ({ state: initialState(id), iterations: [], unreadable: 0 }),
  (reading, text) => {
    const event = parseLine(text);
    if (event === undefined) reading.unreadable += 1;
    else iterationsOf(reading.state, [event], reading.iterations);
  },
);

async function reportIn(run: RunFolder): Promise<{ report: Report; state: RunState; unreadable: number }> {
  const reading = await readingOf(run);
  const { state, unreadable } = reading;
  return { report: reportFrom(reading, run.shown(), run.status(), new Date()), state, unreadable };
}

/** Everything on the page of a run but its stream, its diffs and its files. */
export async function runPage(run: RunFolder, row: RunRow): Promise<RunPage> {
  const { report, state, unreadable } = await reportIn(run);
  const { maxIterations, maxCostUsd, maxTokens, maxTimeMs } = report.limits;
  const facts = words
    .factsOf(report)
    .flatMap(([name, value]) => (value == null ? [] : [[name, value] as [string, string]]));
  const isTotal = ([name]: [string, string]): boolean => TOTALS.includes(name);
  return {
    row,
    ...{ title: words.titleOf(report), look: outcomeOfRun(report), message: report.message },
    facts: facts.filter((fact) => !isTotal(fact)),
    totals: facts.filter(isTotal),
    limits: { maxIterations, maxCostUsd, maxTokens, maxTimeMs },
    iterations: iterationPages(report),
    checks: words.checkRows(report).map(({ command, results, became }) => ({
      ...{ command: brief(command, COMMAND_CHARS), became },
      cells: results.map((check) => ({
        look: lookOf(check),
        words: check ? words.checkWords(check) : "not run",
      })),
    })),
    files: report.files,
    lanes: laneCards(report, state, row.isLiving),
    stories: storyCards(run, report),
    states: report.iterations.flatMap(({ iteration, states }) =>
      states.filter(({ story }) => story === null).map(({ from, to }) => ({ from, to, iteration })),
    ),
    steering: steeringOf(run),
    actions: actionsFor(row, report),
    unreadable,
    records: run.path,
  };
}

/** The figures that stand side by side. */
const TOTALS = ["iterations", "time", "cost", "tokens", "files"];
const COMMAND_CHARS = 300;

function lookOf(check: CheckReport | undefined): Look {
  if (check === undefined || wasNotRun(check)) return "not-run";
  if (check.skipped !== null) return "same";
  return check.passed ? "passed" : "failed";
}

function iterationPages(report: Report): IterationPage[] {
  let lastEnd = Number.NaN;
  return report.iterations.map((iteration) => {
    const { agentMs, restMs } = timesOf(iteration);
    const startedAt = Date.parse(iteration.startedAt);
    const waitMs = Math.max(0, startedAt - lastEnd) || 0;
    lastEnd = startedAt + agentMs + restMs;
    const { mode, about, agent, costUsd, inputTokens, outputTokens, tools, toolErrors } = iteration;
    const tokens = formatTokens(iteration);
    return {
      ...{ iteration: iteration.iteration, look: outcomeOf(iteration, report), why: whyOf(iteration) },
      ...{
        mode,
        about,
        agent,
        lane: iteration.lane ?? null,
        startedAt: iteration.startedAt,
        waitMs,
        agentMs,
        restMs,
      },
      ...{ costUsd, tokens: inputTokens + outputTokens },
      spent: joined(
        costUsd !== null && costCell(costUsd, iteration.costEstimated),
        tokens && `tokens ${tokens}`,
        tools > 0 && plural(tools, "tool call"),
        toolErrors > 0 && plural(toolErrors, "tool error"),
      ),
      checks: iteration.checks.map((check) => checkWords(check)),
    };
  });
}

function whyOf({ error, reason, finished }: IterationReport): string {
  return finished || error !== null ? brief(error ?? reason) : "";
}

function checkWords(check: CheckReport): CheckWords {
  return {
    command: brief(check.command, COMMAND_CHARS),
    look: lookOf(check),
    words: words.checkWords(check),
  };
}

const OUTPUT_CHARS = 20_000;

/** What is behind an iteration; undefined: the run has no such one. */
export async function iterationDetail(
  run: RunFolder,
  number: number,
  lane: string | undefined,
): Promise<IterationDetail | undefined> {
  const { report } = await reportIn(run);
  const iteration = report.iterations.find((one) => one.iteration === number && one.lane === lane);
  if (iteration === undefined) return undefined;
  const { finalMessage, error, checks, violations, scm } = iteration;
  return {
    ...{ finalMessage: endOf(finalMessage, OUTPUT_CHARS), error },
    checks: checks.map((check) => {
      const output = lookOf(check) === "failed" ? { output: endOf(check.output, OUTPUT_CHARS) } : {};
      return { ...checkWords(check), ...output };
    }),
    violations: violations.map(({ what, file }) => joined(file, what)),
    commits: scm.map(({ task, passed, message }) => ({ task, passed, message })),
    files: filesOf(run, number, lane),
  };
}

function actionsFor({ isLiving, result, question }: RunRow, report: Report): Action[] {
  if (isLiving) {
    const isPaused = result === "paused" || result === "pausing";
    return ["steer", isPaused ? "resume" : "pause", "raise", "kill"];
  }
  if (report.success && (report.worktree !== null || report.branch !== undefined)) return ["land", "pr"];
  if (report.success || report.final) return [];
  const isLimit = stopRow(report.reason)?.raise !== undefined || report.limit !== null;
  const goesOn: Action[] =
    question !== null && !question.answered ? ["answer"] : [isLimit ? "raise" : "resume"];
  return [...goesOn, ...(question?.answered ? (["answer"] as const) : []), "steer"];
}
