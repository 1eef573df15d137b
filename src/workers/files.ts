import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import type { RunFinished } from "../events.js";
import { writeAtomic } from "../records/files.js";
import { has } from "../records/shape.js";

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
  /** What was shown in its window. */
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

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function isWorker(home: string, name: string): boolean {
  const { path } = workerFiles(home, name);
  return NAME.test(name) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function workerNames(home: string): string[] {
  try {
    const names = readdirSync(join(home, "workers"));
    return names.filter((name) => isWorker(home, name)).sort();
  } catch {
    return [];
  }
}

/** A name is a folder, a window of tmux and, with `--worktree`, a branch: it has to suit all three. */
export function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw new RalphError(`--name ${JSON.stringify(name)} cannot be the name of a worker`, {
    code: "worker_name",
    hint: "letters, digits, - and _, at most 64, the first one a letter or a digit",
  });
}

/** What ralph needs to find a worker again. Only the worker's loop writes it. */
export interface WorkerRecord {
  v: 1;
  name: string;
  /** The run of its loop. */
  run: string;
  recipe: string;
  workspace: string;
  createdAt: string;
  tags: string[];
  /** Variables of `--env`. */
  env: Record<string, string>;
  tmux: TmuxSession;
  /** Whether its agent has the terminal of the window. */
  onTerminal: boolean;
  /** How the loop ended. */
  ended?: Pick<RunFinished, "reason" | "exitCode" | "message" | "question" | "limit"> | undefined;
}

export interface TmuxSession {
  /** `-L NAME` or `-S PATH`. */
  socket: [flag: "-L" | "-S", value: string];
  session: string;
}

const RECORD = { name: "string", run: "string", workspace: "string", createdAt: "string" } as const;
const LISTS = { tags: "array", env: "object", tmux: "object" } as const;

/** undefined where there is none, or none that can be read. */
export function readRecord({ recordFile }: WorkerFiles): WorkerRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(recordFile, "utf8"));
    const isRecord =
      has(value, { ...RECORD, ...LISTS }) && has(value["tmux"], { socket: "array", session: "string" });
    return isRecord ? (value as unknown as WorkerRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** For its owner alone: variables may be secrets. */
export function writeRecord({ recordFile }: WorkerFiles, record: WorkerRecord): void {
  writeAtomic(recordFile, `${JSON.stringify(record, null, 2)}\n`);
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
