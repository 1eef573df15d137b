import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LaneResult, LoopEvent, Question } from "../../events.js";
import { projectOf } from "../../records/costs.js";
import { advanceRun, laneResults } from "../../records/lanes.js";
import { livingLoops } from "../../records/lock.js";
import { linesOf, parseLine } from "../../records/read.js";
import { groupOf as firstWord, resultOf } from "../../records/result.js";
import {
  activeMsUntil,
  initialState,
  type Lane,
  type RunState,
  type RunStatus,
} from "../../records/run-state.js";
import { type RunFolder, runFolder } from "../../records/runs.js";
import { type SpecRecord, taskOf } from "../../records/spec.js";
import { hasAnswer } from "../../records/words.js";
import { brief } from "../../views/harmless.js";
import type { Look } from "../../views/report/shapes.js";
import { readRecord, workerFiles } from "../../workers/files.js";
import type { AskedQuestion, Group, LaneCard, LaneStanding, RunRow } from "../api.js";
import { doingOf } from "./entries.js";

/** How often streams look at the living runs, all of them at the same moment, and how often at all runs. */
export const ROWS_MS = 150;
const ALL_MS = 1500;

/** Every run of a home as a row. Rows are remembered as long as the files that they were read from stay the same. */
export function overviewOf(home: string) {
  const folder = join(home, "runs");
  const known = new Map<string, Memo>();
  let living = new Set<string>();
  const rowFor = (id: string): RunRow | undefined => {
    const run = runFolder(home, id);
    const print = printOf(run, living.has(id));
    const before = known.get(id);
    if (before !== undefined && before.print === print) return before.row;
    known.delete(id);
    if (print === undefined || !run.isThere()) return undefined;
    const isLiving = living.has(id) || existsSync(run.elsewhere);
    const reading = isLiving ? readOn(run, before?.reading) : undefined;
    const row = rowOf(run, reading);
    known.set(id, { print, row, reading });
    return row;
  };
  const all = (): RunRow[] => {
    living = livingIn(home);
    const ids = existsSync(folder) ? readdirSync(folder).sort().reverse() : [];
    return ids.flatMap((id) => rowFor(id) ?? []);
  };
  let latest: RunRow[] = [];
  let [moment, allAt, stamp] = [-1, Number.NEGATIVE_INFINITY, ""];
  const lookAgain = (now: number): RunRow[] => {
    // These folders change when a run is added or removed, begins or ends.
    const stamped = [folder, join(home, "locks")].map(changedAt).join();
    if (now - allAt < ALL_MS && stamped === stamp)
      return latest.flatMap((row) => (row.isLiving ? (rowFor(row.id) ?? []) : row));
    [allAt, stamp] = [now, stamped];
    return all();
  };
  return {
    /** The newest first. */
    rows: all,
    row(id: string): RunRow | undefined {
      living = livingIn(home);
      return rowFor(id);
    },
    /** The same for all who ask again and again, and the same array as long as nothing has changed. */
    latest(): RunRow[] {
      const now = performance.now();
      if (Math.floor(now / ROWS_MS) === moment) return latest;
      moment = Math.floor(now / ROWS_MS);
      const found = lookAgain(now);
      const isSame = found.length === latest.length && found.every((row, index) => row === latest[index]);
      if (!isSame) latest = found;
      return latest;
    },
  };
}

export type RunOverview = ReturnType<typeof overviewOf>;

interface Memo {
  print: string;
  row: RunRow;
  reading: RowFold | undefined;
}

/** A living run, as far as its journal was read. */
interface RowFold {
  ino: number;
  end: number;
  state: RunState | undefined;
  last: LoopEvent | undefined;
}

/** More is read faster from its end. */
const MOST_BYTES = 1024 * 1024;

/** Each line is read once: agents write thousands of them in an iteration. */
function readOn(run: RunFolder, before: RowFold | undefined): RowFold {
  const { ino = 0, size = 0 } = statSync(run.journal, { throwIfNoEntry: false }) ?? {};
  const more = size - (before?.end ?? 0);
  if (before === undefined || before.ino !== ino || more < 0 || more > MOST_BYTES) {
    const { state, end = 0 } = run.read() ?? {};
    return { ino, end, state, last: run.lastEvent() };
  }
  for (const { text, next } of linesOf(run.journal, before.end)) {
    before.end = next;
    const event = parseLine(text);
    if (event === undefined) continue;
    before.state = advanceRun(before.state ?? initialState(run.id), event);
    before.last = event;
  }
  return before;
}

function livingIn(home: string): Set<string> {
  return new Set(livingLoops(home).map(({ run }) => run));
}

function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Another one where a row has to be read again; undefined: it is no run. The folder changes with its short files. */
function printOf(run: RunFolder, isLiving: boolean): string | undefined {
  const folder = changedAt(run.path);
  const { size = 0, mtimeMs = 0 } = statSync(run.journal, { throwIfNoEntry: false }) ?? {};
  return folder === undefined ? undefined : [folder, size, mtimeMs, isLiving].join();
}

function rowOf(run: RunFolder, reading: RowFold | undefined): RunRow {
  try {
    return readRow(run, run.shown(), reading);
  } catch (error) {
    const line = (error as Error).message;
    return {
      ...{ id: run.id, name: run.id, worker: null, group: "failed", result: "unknown", line, lanes: [] },
      ...{ isLiving: reading !== undefined, startedAt: null, lastAt: null, costUsd: null, question: null },
      ...{ recipe: "", agent: "", project: "", task: "", activeMs: 0, iteration: 0, maxIterations: 0 },
    };
  }
}

function readRow(run: RunFolder, spec: SpecRecord, reading: RowFold | undefined): RunRow {
  const isLiving = reading !== undefined;
  const last = isLiving ? reading.last : run.lastEvent();
  const { question, ...told } = standingOf(run, spec, last, reading);
  const isWorker =
    spec.worker !== undefined && readRecord(workerFiles(run.home, spec.worker))?.run === run.id;
  return {
    ...{ id: run.id, name: run.name(), worker: isWorker ? (spec.worker ?? null) : null },
    ...{ recipe: spec.recipe.kind, isLiving, startedAt: spec.createdAt, lastAt: last?.ts ?? null },
    ...{ agent: spec.agent.name, project: projectOf(spec), task: brief(taskOf(spec), TASK_CHARS) },
    ...told,
    question: question === undefined ? null : asked(run, question, told.iteration),
    group: groupOf(told.result),
  };
}

const TASK_CHARS = 200;
/** It may say which commands to take over with. */
const LINE_CHARS = 600;

type RowFacts = Pick<
  RunRow,
  "result" | "iteration" | "maxIterations" | "activeMs" | "costUsd" | "line" | "lanes"
> & {
  question?: Question | undefined;
};

/** Of a run that has ended the last line of its journal is enough. */
function standingOf(
  run: RunFolder,
  spec: SpecRecord,
  last: LoopEvent | undefined,
  reading: RowFold | undefined,
): RowFacts {
  if (last?.type !== "run.finished" || reading !== undefined) return standingNow(run, spec, last, reading);
  const { limits } = spec;
  const { iterations: iteration, costUsd, durationMs: activeMs, message = "", question, lanes } = last;
  const maxIterations = isRace(spec, last) ? 0 : limits.maxIterations;
  const result = resultOf("finished", last, limits);
  const line = brief(message, LINE_CHARS);
  return { result, iteration, maxIterations, activeMs, costUsd, line, question, lanes: standingsOf(lanes) };
}

function standingNow(
  run: RunFolder,
  spec: SpecRecord,
  last: LoopEvent | undefined,
  reading: RowFold | undefined,
): RowFacts {
  const isLiving = reading !== undefined;
  const state = reading?.state ?? run.state() ?? initialState(run.id);
  const status: RunStatus = isLiving || state.status === "finished" ? state.status : "crashed";
  const isPausing = status === "running" && existsSync(run.pause);
  const known = state.limits ?? spec.limits;
  // The page adds the time since the last event.
  const until = last === undefined ? Date.now() : Date.parse(last.ts);
  return {
    result: resultOf(isPausing ? "pausing" : status, state.finished, known),
    iteration: state.iterations + (isLiving && status !== "finished" ? 1 : 0),
    maxIterations: isRace(spec, state) ? 0 : known.maxIterations,
    activeMs: Math.round(activeMsUntil(until, state, status === "running")),
    costUsd: state.costUsd,
    line:
      isLiving || last?.type.startsWith("landing.") ? doingOf(last) : brief(state.message ?? "", LINE_CHARS),
    question: state.question,
    lanes: standingsOf(state.finished?.lanes ?? laneResults(state), isLiving ? state : undefined),
  };
}

/** Each lane of a race has a limit of its own, which says nothing of their sum. */
function isRace({ recipe }: SpecRecord, { lanes }: { lanes?: unknown }): boolean {
  return lanes !== undefined && recipe.kind !== "stories";
}

const ASKING = ["blocked", "violation"];
const WORKING = ["running", "pausing", "paused"];

function groupOf(result: string): Group {
  const word = firstWord(result);
  if (ASKING.includes(word)) return "needs you";
  if (WORKING.includes(word)) return "working";
  if (word === "waiting") return "waiting";
  return word === "done" ? "done" : "failed";
}

/** A question that is asked again in a later iteration is another question. */
export function questionId(question: Question, iteration: number): string {
  return createHash("sha256")
    .update(`${iteration}\n${question.kind}\n${question.text}`)
    .digest("hex")
    .slice(0, 16);
}

function asked(run: RunFolder, question: Question, iteration: number): AskedQuestion {
  return { ...question, id: questionId(question, iteration), answered: hasAnswer(run) };
}

const LOOKS: Record<LaneResult["result"], Look> = {
  ...{ landed: "passed", won: "passed", passed: "passed", blocked: "agent-failed" },
  ...{ failed: "failed", stopped: "cut-off", waiting: "not-run" },
};

type LanesState = Pick<RunState, "lanes"> | undefined;

/** What became of each lane, or where it stands now; without a state nothing more happens in any. */
function standingsOf(lanes: LaneResult[] = [], state?: LanesState): LaneStanding[] {
  return lanes.map(({ lane, result }) => {
    const own = state?.lanes?.[lane];
    const [standing, look] = (own && laneStanding(own)) ?? [result, LOOKS[result]];
    return { lane, standing, look };
  });
}

/** The lanes of a run side by side. */
export function laneCards(lanes: LaneResult[] = [], state: LanesState, isLiving: boolean): LaneCard[] {
  const standings = standingsOf(lanes, isLiving ? state : undefined);
  return lanes.map(({ worktree: _, ...result }, index) => {
    const own = standings[index] as LaneStanding;
    const { overlaps = {}, landed } = state?.lanes?.[result.lane] ?? {};
    return {
      ...{ ...result, ...own, isQueued: own.standing === QUEUED || own.standing === LANDING },
      overlaps: Object.entries(overlaps).flatMap(([other, files]) =>
        landed !== undefined || files.length === 0
          ? []
          : [`would conflict with ${other} in ${files.join(", ")}`],
      ),
    };
  });
}

const QUEUED = "in the landing queue";
const LANDING = "landing";

/** undefined: nothing more happens in it. */
function laneStanding({ state, landed, blocked, landing, waits }: Lane): [string, Look] | undefined {
  if (landed !== undefined || blocked !== undefined) return undefined;
  if (state.status === "finished" && !state.success) return undefined;
  if (state.status === "finished") return landing === undefined ? [QUEUED, "held"] : [LANDING, "at-work"];
  if (state.startedAt === "") return waits && [`waits for ${waits.for}`, "held"];
  return state.status === "running" ? [state.iteration?.mode ?? "works", "at-work"] : [state.status, "held"];
}
