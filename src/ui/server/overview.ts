import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LoopEvent, Question } from "../../events.js";
import { projectOf } from "../../records/costs.js";
import { livingLoops } from "../../records/lock.js";
import { groupOf as firstWord, resultOf } from "../../records/result.js";
import { activeMsUntil, type RunState, type RunStatus } from "../../records/run-state.js";
import { type RunFolder, runFolder } from "../../records/runs.js";
import { type SpecRecord, taskOf } from "../../records/spec.js";
import { hasAnswer } from "../../records/words.js";
import { brief } from "../../views/harmless.js";
import { readRecord, workerFiles } from "../../workers/files.js";
import type { AskedQuestion, Group, RunRow } from "../api.js";
import { doingOf } from "./entries.js";

/** For streams: how long what was found stays true, of living runs and of all. */
const LIVING_MS = 100;
const ALL_MS = 1500;

/** Every run of a home as a row. Rows are remembered as long as the files that they were read from stay the same. */
export function overviewOf(home: string) {
  const folder = join(home, "runs");
  const known = new Map<string, { print: string; row: RunRow }>();
  const rowFor = (id: string, living: Set<string>): RunRow | undefined => {
    const run = runFolder(home, id);
    const print = printOf(run, living.has(id));
    const before = known.get(id);
    if (before !== undefined && before.print === print) return before.row;
    known.delete(id);
    if (print === undefined || !run.isThere()) return undefined;
    const row = rowOf(run, living.has(id) || existsSync(run.elsewhere));
    known.set(id, { print, row });
    return row;
  };
  const livingNow = (): Set<string> => new Set(livingLoops(home).map(({ run }) => run));
  const rowsWith = (living: Set<string>): RunRow[] => {
    const ids = existsSync(folder) ? readdirSync(folder).sort().reverse() : [];
    return ids.flatMap((id) => rowFor(id, living) ?? []);
  };
  let latest: RunRow[] = [];
  let [lookedAt, allAt, changedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  const lookAgain = (now: number): RunRow[] => {
    const living = livingNow();
    // It changes when a run is added or removed.
    const { mtimeMs = 0 } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (now - allAt >= ALL_MS || mtimeMs !== changedAt) {
      [allAt, changedAt] = [now, mtimeMs];
      return rowsWith(living);
    }
    return latest.flatMap((row) =>
      row.isLiving || living.has(row.id) ? (rowFor(row.id, living) ?? []) : row,
    );
  };
  return {
    /** The newest first. */
    rows: (): RunRow[] => rowsWith(livingNow()),
    row: (id: string): RunRow | undefined => rowFor(id, livingNow()),
    /** The same for all who ask again and again, and the same array as long as nothing has changed. */
    latest(): RunRow[] {
      const now = performance.now();
      if (now - lookedAt < LIVING_MS) return latest;
      lookedAt = now;
      const found = lookAgain(now);
      const isSame = found.length === latest.length && found.every((row, index) => row === latest[index]);
      if (!isSame) latest = found;
      return latest;
    },
  };
}

export type RunOverview = ReturnType<typeof overviewOf>;

/** Another one where a row has to be read again; undefined: it is no run. The folder changes with its short files. */
function printOf(run: RunFolder, isLiving: boolean): string | undefined {
  const folder = statSync(run.path, { throwIfNoEntry: false });
  const { size = 0, mtimeMs = 0 } = statSync(run.journal, { throwIfNoEntry: false }) ?? {};
  return folder && [folder.mtimeMs, size, mtimeMs, isLiving].join();
}

function rowOf(run: RunFolder, isLiving: boolean): RunRow {
  try {
    return readRow(run, run.shown(), isLiving);
  } catch (error) {
    return {
      ...{ id: run.id, name: run.id, worker: null, recipe: "", group: "failed", result: "unknown" },
      ...{ isLiving, startedAt: null, lastAt: null, activeMs: 0, iteration: 0, maxIterations: 0 },
      ...{ costUsd: null, agent: "", project: "", task: "", line: (error as Error).message, question: null },
    };
  }
}

function readRow(run: RunFolder, spec: SpecRecord, isLiving: boolean): RunRow {
  const last = run.lastEvent();
  const standing = standingOf(run, spec, last, isLiving);
  const { question, ...told } = standing;
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

type Standing = Pick<RunRow, "result" | "iteration" | "maxIterations" | "activeMs" | "costUsd" | "line"> & {
  question?: Question | undefined;
};

/** Of a run that has ended the last line of its journal is enough. */
function standingOf(
  run: RunFolder,
  { limits }: SpecRecord,
  last: LoopEvent | undefined,
  isLiving: boolean,
): Standing {
  if (last?.type === "run.finished" && !isLiving) {
    const { iterations: iteration, costUsd, durationMs: activeMs, message = "", question } = last;
    const result = resultOf("finished", last, limits);
    const line = brief(message, TASK_CHARS);
    return { result, iteration, maxIterations: limits.maxIterations, activeMs, costUsd, line, question };
  }
  const state = run.state();
  const status: RunStatus = isLiving ? (state?.status ?? "running") : endedStatus(state);
  const isPausing = status === "running" && existsSync(run.pause);
  const known = state?.limits ?? limits;
  return {
    result: resultOf(isPausing ? "pausing" : status, state?.finished, known),
    iteration: (state?.iterations ?? 0) + (isLiving && status !== "finished" ? 1 : 0),
    maxIterations: known.maxIterations,
    activeMs: state === undefined ? 0 : Math.round(activeMsUntil(Date.now(), state, status === "running")),
    costUsd: state?.costUsd ?? null,
    line: isLiving ? doingOf(last) : brief(state?.message ?? "", TASK_CHARS),
    question: state?.question,
  };
}

function endedStatus(state: RunState | undefined): RunStatus {
  return state?.status === "finished" ? "finished" : "crashed";
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
