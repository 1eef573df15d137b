import { appendFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { orElse } from "../errors.js";
import { readJson, writeAtomic } from "../records/files.js";
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
const Session = z.object({ socket: z.tuple([z.enum(["-L", "-S"]), z.string()]), session: z.string() });
export type TmuxSession = z.infer<typeof Session>;

/** What only the worker knows; the records of its run have all else. `env` has the variables of `--env`. */
const Record = z.object({
  run: z.string(),
  tags: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  tmux: Session,
});
export type WorkerRecord = z.infer<typeof Record>;

/** undefined where there is none, or none that can be read. */
export function readRecord({ recordFile }: WorkerFiles): WorkerRecord | undefined {
  return Record.safeParse(readJson(recordFile)).data;
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
