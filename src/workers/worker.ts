import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { RalphError } from "../errors.js";
import { type LockHolder, livingLoops } from "../records/lock.js";
import { activeMsUntil, type RunState } from "../records/run-state.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { readRecord, type WorkerFiles, type WorkerRecord, workerFiles, workerNames } from "./files.js";
import { readState, type WorkerState } from "./state-file.js";

/** A worker as its files show it, as far as they can be read. */
export interface Worker extends WorkerFiles {
  home: string;
  status: LoopStatus;
  state: WorkerState | undefined;
  record: WorkerRecord | undefined;
  /** The process of its loop, if it lives: a pid in a file is not believed. */
  loop: LockHolder | undefined;
  /** What is wrong with its state file. */
  damage: string | undefined;
}

/**
 * `waiting`: for a usage limit to end. `crashed`: it should be running, and its process is gone. `unknown`: its state
 * file cannot be read.
 */
export type LoopStatus = "running" | "paused" | "waiting" | "stopped" | "failed" | "crashed" | "unknown";

export function readWorker(home: string, name: string): Worker {
  const files = workerFiles(home, name);
  const record = readRecord(files);
  const { state, damage } = readState(files);
  const loop = record && runFolder(home, record.run).loop(record.workspace);
  const worker = { ...files, home, record, loop, damage };
  if (state === undefined || record === undefined) return { ...worker, state: undefined, status: "unknown" };
  const isGone = state.status === "running" && loop === undefined;
  return { ...worker, state, status: isGone ? "crashed" : state.status };
}

export function recordOf({ name, record, recordFile }: Worker): WorkerRecord {
  if (record !== undefined) return record;
  throw new RalphError(`the record of worker '${name}' cannot be read: ${recordFile}`, {
    code: "worker_damaged",
    exitCode: 1,
    hint: `remove it with: ralph clean ${name}`,
  });
}

export function warnOfDamage({ name, damage }: Worker, warn: (text: string) => void): void {
  if (damage !== undefined) warn(`the state file of worker '${name}' ${damage}`);
}

/** A worker or a run, as everything that lists them shows it. */
export interface LoopRow {
  kind: "worker" | "run";
  /** The worker's name; a run has its id here. */
  name: string;
  /** null: the worker's record does not say. */
  run: string | null;
  recipe: string;
  status: LoopStatus;
  /** Why it stopped, where it has. */
  reason: string | null;
  iteration: number;
  maxIterations: number;
  /** ISO 8601, UTC; null: not known. */
  startedAt: string | null;
  /** Time at work so far, pauses left out. */
  activeMs: number;
  costUsd: number | null;
  /** The last line that it printed, without colours. */
  lastLine: string;
  workspace: string;
  tags: string[];
}

/** Every worker, and every run at work that belongs to none. Reads files only. */
export function loopRows(home: string, warn: (text: string) => void): LoopRow[] {
  const workers = workerNames(home).map((name) => readWorker(home, name));
  for (const worker of workers) warnOfDamage(worker, warn);
  const known = new Set(["", ...workers.map(({ record }) => record?.run)]);
  const others = livingLoops(home).filter(({ run }) => !known.has(run));
  return [...workers.map(workerRow), ...others.flatMap((loop) => runRow(runFolder(home, loop.run), loop))];
}

const AT_WORK: LoopStatus[] = ["running", "paused", "waiting"];

export function workerRow({ home, name, outputLog, state, record, status: own }: Worker): LoopRow {
  const run = record && stateOf(runFolder(home, record.run));
  // The state file of a worker knows of no limits.
  const status = own === "running" && run?.status === "waiting" ? "waiting" : own;
  const hasEnded = !AT_WORK.includes(status);
  const { recipe = "", workspace = "", tags = [], ended }: Partial<WorkerRecord> = record ?? {};
  return {
    kind: "worker",
    name,
    run: record?.run ?? null,
    recipe,
    status,
    reason: hasEnded ? (run?.reason ?? ended?.reason ?? null) : null,
    iteration: state?.current_iteration ?? run?.iterations ?? 0,
    maxIterations: state?.max_iterations ?? 0,
    startedAt: record?.createdAt ?? null,
    activeMs: run === undefined ? 0 : activeMsUntil(Date.now(), run, status === "running"),
    costUsd: run?.costUsd ?? null,
    lastLine: waitOf(status, run) ?? lastLine(outputLog, hasEnded ? "[ralph] " : ""),
    workspace,
    tags,
  };
}

function runRow(folder: RunFolder, { workspace }: LockHolder): LoopRow[] {
  const state = stateOf(folder);
  if (state === undefined) return [];
  const isPaused = state.status === "paused" || existsSync(folder.pause);
  const status = isPaused ? "paused" : state.status === "waiting" ? "waiting" : "running";
  const row: LoopRow = {
    kind: "run",
    name: folder.id,
    run: folder.id,
    recipe: state.recipe,
    status,
    reason: null,
    iteration: state.iterations + 1,
    maxIterations: state.limits?.maxIterations ?? 0,
    startedAt: state.startedAt || null,
    activeMs: activeMsUntil(Date.now(), state, !isPaused),
    costUsd: state.costUsd,
    lastLine: waitOf(status, state) ?? state.message ?? "",
    workspace,
    tags: [],
  };
  return [row];
}

/** Without a journal that can be read, the worker's own files still tell something. */
function stateOf(folder: RunFolder): RunState | undefined {
  try {
    return folder.state();
  } catch {
    return undefined;
  }
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

/** The last one with that beginning: of a loop that has ended, what it said of itself. */
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
