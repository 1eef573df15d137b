import { readFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../../errors.js";
import { boardOf, DEFAULT_REVIEW_CAP, type ReviewRules, storyFiles } from "../../recipes/stories/state.js";
import { readTasks } from "../../recipes/stories/tasks.js";
import { has, readJson, refuseSpecialFile } from "../../records/files.js";
import { parseLine } from "../../records/read.js";
import { addStories, type Fold, iterationsOf, type Report, reportFrom } from "../../records/report.js";
import { initialState, type RunState } from "../../records/run-state.js";
import type { RunFolder } from "../../records/runs.js";
import { steeringOf } from "../../records/words.js";
import { stopRow } from "../../stop-reasons.js";
import * as words from "../../views/report/facts.js";
import { detailOf, lookOfRun, pageChecks, pageIterations } from "../../views/report/page.js";
import type { Detail, Look } from "../../views/report/shapes.js";
import type { Action, RunPage, RunRow, StateCard, StoryCard } from "../api.js";
import { growing } from "./journal.js";
import { laneCards } from "./overview.js";
import { endOf } from "./text.js";

/** The result of a run so far. */
interface PageReading extends Fold {
  unreadable: number;
  /** The last words of an agent: of several in a row only the time of the last ones counts. */
  said: string | undefined;
}

const SAID = /^\{"v":1,"type":"agent\.event"[^{]*"event":\{"type":"text".*\}\}$/;

const readingOf = growing<PageReading>(
  ({ id }) => ({ state: initialState(id), iterations: [], unreadable: 0, said: undefined }),
  (reading, text) => {
    const isSaid = SAID.test(text);
    reading.said = isSaid ? text : undefined;
    if (!isSaid) take(reading, text);
  },
);

function take(reading: PageReading, text: string): void {
  const event = parseLine(text);
  if (event === undefined) reading.unreadable += 1;
  else iterationsOf(reading.state, [event], reading.iterations);
}

async function reportIn(run: RunFolder): Promise<{ report: Report; state: RunState; unreadable: number }> {
  const reading = await readingOf(run);
  if (reading.said !== undefined) take(reading, reading.said);
  reading.said = undefined;
  const { state, unreadable } = reading;
  return { report: reportFrom(reading, run.shown(), run.status(), new Date()), state, unreadable };
}

/** Everything on the page of a run but its stream, its diffs and its files. */
export async function runPage(run: RunFolder, row: RunRow): Promise<RunPage> {
  const { report, state, unreadable } = await reportIn(run);
  const { maxIterations, maxCostUsd, maxTokens, maxTimeMs } = report.limits;
  const facts = words.known(words.factsOf(report));
  return {
    row,
    ...{ title: words.titleOf(report), look: lookOfRun(report), message: report.message },
    facts: [...facts.filter((fact) => !words.isTotal(fact) && !isOfLanes(fact)), ...pullRequest(run)],
    totals: facts.filter(words.isTotal),
    limits: { maxIterations, maxCostUsd, maxTokens, maxTimeMs },
    ...{ iterations: pageIterations(report), checks: pageChecks(report) },
    files: report.files,
    lanes: laneCards(report.lanes, state, row.isLiving),
    stories: storyCards(run, report),
    states: stateCards(run, report),
    steering: steeringOf(run),
    actions: actionsFor(row, report),
    unreadable,
    records: run.path,
  };
}

/** They have cards of their own. */
function isOfLanes([name]: [name: string, value: string]): boolean {
  return name === "lanes" || name === "";
}

function pullRequest(run: RunFolder): [name: string, value: string][] {
  const known = readJson(run.github);
  return has(known, { url: "string" }) ? [["pull request", String(known.url)]] : [];
}

const OUTPUT_CHARS = 20_000;

/** What is behind an iteration; undefined: the run has no such one. */
export async function iterationDetail(
  run: RunFolder,
  number: number,
  lane: string | undefined,
): Promise<Detail | undefined> {
  const { report } = await reportIn(run);
  const iteration = report.iterations.find((one) => one.iteration === number && one.lane === lane);
  if (iteration === undefined) return undefined;
  const detail = detailOf(iteration);
  const cut = (text = ""): string => endOf(text, OUTPUT_CHARS);
  const checks = detail.checks.map((check) => ({ ...check, output: cut(check.output) }));
  return { ...detail, finalMessage: cut(detail.finalMessage), checks };
}

function actionsFor({ isLiving, result, question }: RunRow, report: Report): Action[] {
  if (isLiving) {
    const isPaused = result === "paused" || result === "pausing";
    return ["steer", isPaused ? "resume" : "pause", "raise", "kill"];
  }
  const isApart = report.worktree !== null || report.branch !== undefined;
  if (report.success && isApart && report.landed === undefined) return ["land", "pr"];
  if (report.success || report.final) return [];
  const isLimit = stopRow(report.reason)?.raise !== undefined || report.limit !== null;
  const goesOn: Action[] =
    question !== null && !question.answered ? ["answer"] : [isLimit ? "raise" : "resume"];
  return [...goesOn, ...(question?.answered ? (["answer"] as const) : []), "steer"];
}

/** Where the stories of a run stand: as its list has them, else as far as its journal tells. */
function storyCards(run: RunFolder, { stories, lanes }: Report): StoryCard[] {
  const { workspace, recipe } = run.shown();
  if (recipe.kind !== "stories") return [];
  const file = join(workspace, storyFiles(recipe.dir ?? "").tasks);
  // An agent may have put anything there.
  const text = orElse(() => listText(file), undefined);
  const { tasks } = readTasks(text);
  if (tasks === undefined)
    return stories.map(({ state, ...story }) => ({ ...story, state: state ?? "todo", dependsOn: [] }));
  const { skipReview = false, reviewCap = DEFAULT_REVIEW_CAP } = recipe as Partial<ReviewRules>;
  const board = boardOf(tasks, { skipReview, reviewCap }, null, addStories([stories]));
  // Lanes work on lists of their own, which come into this one when the branch of the run has landed.
  const inLanes = new Map(lanes && stories.map((story) => [story.story, story]));
  return board.stories.map(({ iterations = 0, costUsd = null, ...story }) => {
    const { state, reviews, atCap } = inLanes.get(story.story) ?? story;
    return { ...story, iterations, costUsd, state: state ?? story.state, reviews, atCap };
  });
}

/** The states of a pipeline in their order, with what has become of each. */
function stateCards(run: RunFolder, report: Report): StateCard[] {
  const { recipe } = run.shown();
  const { iterations } = report;
  const { states = [] } = recipe as { states?: { name: string; goal?: string; command?: string }[] };
  if (recipe.kind !== "pipeline") return [];
  const left = new Map(
    iterations.flatMap((one) => one.states.map(({ from, to }): [string, string] => [from, to])),
  );
  const lookOf = (name: string): Look => {
    const to = left.get(name);
    if (to !== undefined) return to === "GUTTER" ? "failed" : "passed";
    return iterations.at(-1)?.mode === name ? lookOfRun(report) : "not-run";
  };
  return states.map(({ name, goal = "", command: gate = "" }) => {
    const own = iterations.filter(({ mode }) => mode === name).map(({ iteration }) => iteration);
    return { ...{ name, goal, gate }, look: lookOf(name), iterations: own };
  });
}

function listText(file: string): string {
  refuseSpecialFile(file);
  return readFileSync(file, "utf8");
}
