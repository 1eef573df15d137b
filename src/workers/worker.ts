import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { orElse, RalphError } from "../errors.js";
import { type LockHolder, livingLoops } from "../records/lock.js";
import { resultOf } from "../records/result.js";
import { activeMsUntil, limitsOfAll, type RunState } from "../records/run-state.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import type { SpecRecord } from "../records/spec.js";
import { readRecord, type WorkerFiles, type WorkerRecord, workerFiles, workerNames } from "./files.js";
import { readState, type WorkerState } from "./state-file.js";

/** A worker as its files describe it, as far as they are readable. */
export interface Worker extends WorkerFiles {
  home: string;
  status: LoopStatus;
  state: WorkerState | undefined;
  record: WorkerRecord | undefined;
  /** The spec of its run, and the state in its journal. */
  spec: SpecRecord | undefined;
  run: RunState | undefined;
  /** The process of its loop, if it lives; ralph does not trust a pid in a file. */
  loop: LockHolder | undefined;
  /** What is wrong with its state file. */
  damage: string | undefined;
}

/** `waiting`: for a usage limit. `crashed`: its process is gone. `unknown`: its state file is unreadable. */
type LoopStatus = "running" | "paused" | "waiting" | "stopped" | "failed" | "crashed" | "unknown";

export function readWorker(home: string, name: string): Worker {
  const files = workerFiles(home, name);
  const record = readRecord(files);
  const { state, damage } = readState(files);
  const folder = record && runFolder(home, record.run);
  // If the records of its run are unreadable, the worker's own files still help.
  const run = orElse(() => folder?.state(), undefined);
  const spec = orElse(() => folder?.spec(), undefined);
  const loop = spec && folder?.loop(spec.workspace);
  const worker = { ...files, home, record, run, spec, loop, damage };
  if (state === undefined || record === undefined) return { ...worker, state: undefined, status: "unknown" };
  const isGone = state.status === "running" && loop === undefined;
  return { ...worker, state, status: isGone ? "crashed" : state.status };
}

/** How its loop ended; undefined: it still runs. */
export function endOf({ run }: Worker): RunState["finished"] {
  return run?.status === "finished" ? run.finished : undefined;
}

export function recordOf({ name, record, recordFile }: Worker): WorkerRecord {
  if (record !== undefined) return record;
  throw new RalphError(`cannot read the record of worker '${name}': ${recordFile}`, {
    code: "worker_damaged",
    exitCode: 1,
    hint: `remove it with: ralph clean ${name}`,
  });
}

export function warnOfDamage({ name, damage }: Worker, warn: (text: string) => void): void {
  if (damage !== undefined) warn(`the state file of worker '${name}' ${damage}`);
}

/** A worker or a run, as every list shows it. */
export interface LoopRow {
  kind: "worker" | "run";
  /** The name of the worker or of the run; the id of a run of an earlier release. */
  name: string;
  /** null: the worker's record does not say. */
  run: string | null;
  recipe: string;
  status: LoopStatus;
  /** Its state or its end, in words. */
  result: string;
  reason: string | null;
  question: string | null;
  iteration: number;
  maxIterations: number;
  /** ISO 8601, UTC; null: unknown. */
  startedAt: string | null;
  /** Active time so far, without pauses. */
  activeMs: number;
  costUsd: number | null;
  /** The last line that it printed, without colours. */
  lastLine: string;
  workspace: string;
  tags: string[];
}

/** How long lists show a run without a worker after its end. */
const RECENT_MS = 24 * 3_600_000;
/** How many of the latest runs a list shows. */
const RECENT_RUNS = 20;

/** Every worker, and each run of the latest `most` that runs or ended within a day. Reads files only. */
export function loopRows(home: string, warn: (text: string) => void, most = RECENT_RUNS): LoopRow[] {
  const workers = workerNames(home).map((name) => readWorker(home, name));
  for (const worker of workers) warnOfDamage(worker, warn);
  const known = new Set(["", ...workers.map(({ record }) => record?.run)]);
  const living = livingLoops(home).filter(({ run }) => !known.has(run));
  for (const { run } of living) known.add(run);
  // What was not written to for a day is not worth reading.
  const isRecent = (journal: string): boolean =>
    (statSync(journal, { throwIfNoEntry: false })?.mtimeMs ?? 0) > Date.now() - RECENT_MS;
  const ended = runsIn(home)
    .list(most)
    .filter(({ id, journal }) => !known.has(id) && isRecent(journal));
  return [
    ...workers.map(workerRow),
    ...living.flatMap(({ run }) => runRow(runFolder(home, run), true)),
    ...ended.flatMap((run) => runRow(run, false)),
  ];
}

const AT_WORK: LoopStatus[] = ["running", "paused", "waiting"];

export function workerRow(worker: Worker): LoopRow {
  const { name, outputLog, state, record, run, spec } = worker;
  // The state file of a worker does not mention usage limits.
  const status = worker.status === "running" && run?.status === "waiting" ? "waiting" : worker.status;
  const hasEnded = !AT_WORK.includes(status);
  const standing = standingOf(worker, status);
  return {
    ...rowOf("worker", name, standing, run),
    run: record?.run ?? null,
    recipe: spec?.recipe.kind ?? "",
    result: resultOf(standing, endOf(worker), run?.limits ?? spec?.limits),
    reason: (hasEnded && run?.reason) || null,
    question: (hasEnded && run?.question?.text) || null,
    iteration: state?.current_iteration ?? run?.iterations ?? 0,
    maxIterations: state?.max_iterations ?? 0,
    lastLine: waitOf(status, run) ?? lastLine(outputLog, hasEnded ? "[ralph] " : ""),
    workspace: spec?.workspace ?? "",
    tags: record?.tags ?? [],
  };
}

/** `pausing`: it will pause when its agent has finished. */
function standingOf({ run, loop }: Worker, status: LoopStatus): LoopStatus | "pausing" {
  return status === "paused" && loop !== undefined && run?.status === "running" ? "pausing" : status;
}

function rowOf(
  kind: LoopRow["kind"],
  name: string,
  standing: LoopStatus | "pausing",
  run: RunState | undefined,
): LoopRow {
  const status = standing === "pausing" ? "paused" : standing;
  const isActive = standing === "running" || standing === "pausing";
  return {
    kind,
    name,
    run: run?.run ?? null,
    recipe: run?.recipe ?? "",
    status,
    result: resultOf(standing, run?.finished, run?.limits),
    reason: run?.reason ?? null,
    question: run?.question?.text ?? null,
    iteration: (run?.iterations ?? 0) + (AT_WORK.includes(status) ? 1 : 0),
    maxIterations: run?.limits?.maxIterations ?? 0,
    startedAt: run?.startedAt || null,
    activeMs: run === undefined ? 0 : activeMsUntil(Date.now(), run, isActive),
    costUsd: run?.costUsd ?? null,
    lastLine: waitOf(status, run) ?? run?.message ?? "",
    workspace: run?.workspace ?? "",
    tags: [],
  };
}

/** `isLiving`: a process works on it. */
function runRow(folder: RunFolder, isLiving: boolean): LoopRow[] {
  const state = orElse(() => folder.state(), undefined);
  if (state === undefined) return [];
  if (!isLiving && Date.parse(state.lastSeenAt) < Date.now() - RECENT_MS) return [];
  const isPaused = isLiving && existsSync(folder.pause);
  // The end of a journal does not show limits that a resume has raised.
  const limits = orElse(() => limitsOfAll(folder.shown().limits, state), state.limits);
  const status = isPaused ? "paused" : statusOf(state, isLiving);
  const standing = isPaused && state.status === "running" ? "pausing" : status;
  return [rowOf("run", folder.name(), standing, { ...state, limits })];
}

/** In the words of a worker's state file. */
function statusOf({ status, finished }: RunState, isLiving: boolean): LoopStatus {
  if (isLiving) return status === "paused" || status === "waiting" ? status : "running";
  if (status !== "finished") return "crashed";
  return finished?.exitCode === 0 ? "stopped" : "failed";
}

function waitOf(status: LoopStatus, run: RunState | undefined): string | undefined {
  if (status !== "waiting") return undefined;
  const [first] = Object.values(run?.limited ?? {})
    .map(({ until }) => until)
    .sort();
  const when = first === undefined ? "" : ` until ${first.slice(0, 16).replace("T", " ")} UTC`;
  return `waiting for a usage limit to end${when}`;
}

const TAIL_BYTES = 4096;

/** The last line with that beginning: of a loop that has ended, its own last words. */
function lastLine(path: string, beginning: string): string {
  if (!existsSync(path)) return "";
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    const lines = stripVTControlCharacters(buffer.toString("utf8")).split("\n");
    return lines.findLast((line) => line.trim() !== "" && line.startsWith(beginning))?.trim() ?? "";
  } finally {
    closeSync(file);
  }
}
