import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../errors.js";
import { has, readJson, writeAtomic } from "../records/files.js";
import { NAME } from "../records/names.js";

/** Where the files of one worker are: `$RALPH_HOME/workers/<name>/`. */
export interface WorkerFiles {
  name: string;
  path: string;
  /** What ralph needs to find the worker again. */
  recordFile: string;
  /** What people and scripts read, and may edit. */
  stateFile: string;
  /** A line for each thing that happened to an iteration. */
  iterationsLog: string;
  outputLog: string;
  /** Locked for a moment by a process that writes `stateFile`. */
  turnLock: string;
}

export function workerFiles(home: string, name: string): WorkerFiles {
  const path = join(home, "workers", name);
  return {
    name,
    path,
    recordFile: join(path, "worker.json"),
    stateFile: join(path, "state.json"),
    iterationsLog: join(path, "iterations.log"),
    outputLog: join(path, "output.log"),
    turnLock: join(path, "turn.lock"),
  };
}

export function isWorker(home: string, name: string): boolean {
  const { path } = workerFiles(home, name);
  return NAME.test(name) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function workerNames(home: string): string[] {
  const names = orElse(() => readdirSync(join(home, "workers")), []);
  return names.filter((name) => isWorker(home, name)).sort();
}

/** Which server of tmux, as `-L NAME` or `-S PATH`, and which of its sessions. */
export interface TmuxSession {
  socket: ["-L" | "-S", string];
  session: string;
}

/** What only the worker knows; the records of its run have all else. `env` has the variables of `--env`. */
export interface WorkerRecord {
  run: string;
  tags: string[];
  env: Record<string, string>;
  tmux: TmuxSession;
}

/** undefined where there is none, or none that can be read. */
export function readRecord({ recordFile }: WorkerFiles): WorkerRecord | undefined {
  const record = readJson(recordFile);
  const isRecord = has(record, { run: "string", tags: "array", env: "object", tmux: "object" });
  if (!isRecord || !has(record["tmux"], { socket: "array", session: "string" })) return undefined;
  return isAddress(record["tmux"]["socket"]) ? (record as unknown as WorkerRecord) : undefined;
}

function isAddress(socket: unknown): boolean {
  const [flag, name, ...rest] = socket as unknown[];
  return (flag === "-L" || flag === "-S") && typeof name === "string" && rest.length === 0;
}

/** For its owner alone: variables may be secrets. */
export function writeRecord({ recordFile }: WorkerFiles, record: WorkerRecord): void {
  writeAtomic(recordFile, `${JSON.stringify({ v: 1, ...record }, null, 2)}\n`);
}

/** `2024-01-15T10:30:00`, where the user is. */
export function localTime(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The same with six digits behind the second, of which the clock knows three. */
export function localTimestamp(date: Date): string {
  return `${localTime(date)}.${date.toISOString().slice(20, 23)}000`;
}

/** One line, written in one go: several processes may write. */
export function logIteration(files: WorkerFiles, at: Date, mark: Uppercase<string>, text: string): void {
  appendFileSync(files.iterationsLog, `${localTime(at)} [${mark}] ${text}\n`, { mode: 0o600 });
}
