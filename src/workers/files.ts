import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../errors.js";
import { has, readJson, writeAtomic } from "../records/files.js";
import { NAME } from "../records/names.js";

/** The paths of one worker's files: `$RALPH_HOME/workers/<name>/`. */
export interface WorkerFiles {
  name: string;
  path: string;
  /** How ralph finds the worker again. */
  recordFile: string;
  /** People and scripts read it, and may edit it. */
  stateFile: string;
  /** A line for each event of an iteration. */
  iterationsLog: string;
  outputLog: string;
  /** A process holds this lock while it writes `stateFile`. */
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

/** The tmux server, as `-L NAME` or `-S PATH`, and the session. */
export interface TmuxSession {
  socket: ["-L" | "-S", string];
  session: string;
}

/** Facts of the worker alone; the records of its run have the rest. `env` has the variables of `--env`. */
export interface WorkerRecord {
  run: string;
  tags: string[];
  env: Record<string, string>;
  tmux: TmuxSession;
}

/** undefined: missing or unreadable. */
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

/** Private, because variables may be secrets. */
export function writeRecord({ recordFile }: WorkerFiles, record: WorkerRecord): void {
  writeAtomic(recordFile, `${JSON.stringify({ v: 1, ...record }, null, 2)}\n`);
}

/** `2024-01-15T10:30:00`, in local time. */
export function localTime(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The same with six digits after the second; the clock knows three. */
export function localTimestamp(date: Date): string {
  return `${localTime(date)}.${date.toISOString().slice(20, 23)}000`;
}

/** One line in one write, because several processes may write. */
export function logIteration(files: WorkerFiles, at: Date, mark: Uppercase<string>, text: string): void {
  appendFileSync(files.iterationsLog, `${localTime(at)} [${mark}] ${text}\n`, { mode: 0o600 });
}
