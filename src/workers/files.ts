import { appendFileSync, readdirSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { orElse } from "../errors.js";
import { createLineSplitter } from "../process/output.js";
import { has, readJson, writeAtomic } from "../records/files.js";
import { NAME } from "../records/home.js";

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

/** What the process in a worker's window gets, beside its environment, from the one that opens the window. */
export interface Assignment extends Omit<WorkerRecord, "run"> {
  name: string;
  argv: string[];
  cwd: string;
  /** The loop's stdin, as the process that opened the window read it. */
  stdin?: string | undefined;
}

/** The reports of the process in the window. */
export type WindowMessage =
  | { type: "said"; text: string }
  | { type: "started"; iteration: number; maxIterations: number }
  | { type: "ended"; exitCode: number };

/** Variables about the terminal belong to the window. */
const OF_THE_WINDOW = ["TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES"];
/** An agent that calls tmux must not reach its own worker's server. */
const NOT_FOR_AGENTS = ["TMUX", "TMUX_PANE"];

/** A process is the loop of one worker at most, from start to end. */
let current: (Assignment & { pane: string }) | undefined;
let opener: Socket | undefined;

/** undefined: this process is not a worker. */
export function assignment(): (Assignment & { pane: string }) | undefined {
  return current;
}

/** Takes folder, environment and command from the opener, who gets errors until the loop has started. */
export async function takeAssignment(path: string): Promise<string[]> {
  const socket = connect(path);
  opener = socket;
  const received = await new Promise<string>((resolve, reject) => {
    const lines = createLineSplitter();
    socket.on("data", (data: Buffer) => {
      for (const line of lines.push(data)) resolve(line);
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the command that opened this window is gone")));
  });
  const { environment, ...given } = JSON.parse(received) as Assignment & {
    environment: Record<string, string>;
  };
  current = { ...given, pane: process.env["TMUX_PANE"] ?? "" };
  for (const name of Object.keys(process.env)) if (!OF_THE_WINDOW.includes(name)) delete process.env[name];
  const kept = Object.entries(environment).filter(
    ([name]) => ![...OF_THE_WINDOW, ...NOT_FOR_AGENTS].includes(name),
  );
  Object.assign(process.env, Object.fromEntries(kept));
  forwardErrors();
  process.chdir(current.cwd);
  process.on("exit", (exitCode) => report({ type: "ended", exitCode }));
  socket.on("error", () => {});
  socket.once("close", () => opener !== undefined && process.kill(process.pid, "SIGTERM"));
  socket.unref();
  return current.argv;
}

/** The loop has started, and no longer needs its opener. */
export function reportStarted(iteration: number, maxIterations: number): void {
  report({ type: "started", iteration, maxIterations });
  opener?.end();
  opener = undefined;
}

function report(message: WindowMessage): void {
  opener?.write(`${JSON.stringify(message)}\n`);
}

function forwardErrors(): void {
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = ((text: string | Uint8Array, ...rest: never[]): boolean => {
    // A status line is for the window only.
    if (!text.toString().startsWith("\r")) report({ type: "said", text: text.toString() });
    return write(text, ...rest);
  }) as typeof process.stderr.write;
}
