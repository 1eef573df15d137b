import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { elapsed } from "../elapsed.js";
import { killTree, type ProcessTree } from "./kill.js";
import { type Chunk, readOutput } from "./output.js";
import { environments, isNobodyIn, pidsSince, variableIn } from "./table.js";

export interface Command {
  file: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Written to stdin, which is then closed; without it, stdin is empty. */
  stdin?: string | Buffer;
  /** Its files are readable for their owner alone, whatever the user's umask. */
  makesPrivate?: boolean;
}

export interface RunOptions {
  /** When aborted, the whole tree gets SIGTERM, then SIGKILL. */
  stop?: AbortSignal;
  /** The same after this time. */
  timeoutMs?: number;
  graceMs?: number;
  /** Ends what it leaves running in the background before its exit is reported. */
  leavesNothing?: boolean | undefined;
  onStart?: (tree: ProcessTree) => void;
}

export interface Exit {
  /** null: a signal ended it, or it could not be started. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  durationMs: number;
  timedOut: boolean;
  /** How many processes it left running; ralph has ended them. */
  left?: number;
  spawnError?: Error;
}

/** The variable that marks every process that a command starts, so that ralph finds strays. */
export const MARKER = "RALPH_PROCESS";

const DEFAULT_GRACE_MS = 5000;
/** The grace for processes that run on after their command has exited. */
const LEFT_GRACE_MS = 500;

let started = 0;

/** Contains the time at which its command was started. */
export function newMarker(): string {
  started += 1;
  return `${process.pid}.${Date.now().toString(36)}.${started}`;
}

/** Markers, as `NAME=value`, of commands that started since then with `variable` in their environment. */
export function markersSince(variable: string, since: number): string[] {
  const [name = "", value] = variable.split("=");
  const texts = [...environments().values()].filter((text) => variableIn(text, name) === value);
  const markers = new Set(texts.map((text) => variableIn(text, MARKER) ?? ""));
  const isSince = (marker: string): boolean => Number.parseInt(marker.split(".")[1] ?? "", 36) >= since;
  return [...markers].filter(isSince).map((marker) => `${MARKER}=${marker}`);
}

/**
 * Runs a command in a process group of its own and yields its output as it comes; slow reading slows the
 * command down. Ends when the process has exited and its output is read, at most two seconds later, whatever
 * its children hold open. Leaving the generator early kills the tree.
 */
export async function* run(command: Command, options: RunOptions = {}): AsyncGenerator<Chunk, Exit> {
  const begun = elapsed();
  const marker = newMarker();
  const child = start(command, marker);
  const ended = waitForExit(child);
  if (child instanceof Error || child.pid === undefined)
    return { ...(await ended), durationMs: 0, timedOut: false };
  const { stdout, stderr, stdin } = child;
  // A command that does not read its stdin closes the pipe: EPIPE is no failure of ralph's.
  stdin?.on("error", () => {}).end(command.stdin);

  const tree = { pid: child.pid, marker: `${MARKER}=${marker}` };
  options.onStart?.(tree);
  let killing: Promise<unknown> | undefined;
  const kill = (): void => {
    killing ??= killTree(tree, options.graceMs ?? DEFAULT_GRACE_MS);
  };
  if (options.stop?.aborted) kill();
  options.stop?.addEventListener("abort", kill, { once: true });
  let timedOut = false;
  const timer = afterDelay(options.timeoutMs, () => {
    timedOut = true;
    kill();
  });
  void ended.then(() => clearTimeout(timer));

  let finished = false;
  try {
    yield* readOutput({ stdout, stderr }, ended);
    const { exitCode, signal } = await ended;
    finished = true;
    await killing;
    const durationMs = elapsed() - begun;
    const exit = { exitCode, signal, durationMs, timedOut };
    if (!options.leavesNothing) return exit;
    const pids = pidsSince(tree.pid, durationMs);
    const left = isNobodyIn(pids) ? 0 : await killTree(tree, LEFT_GRACE_MS, pids);
    return left > 0 ? { ...exit, left } : exit;
  } finally {
    clearTimeout(timer);
    options.stop?.removeEventListener("abort", kill);
    if (!finished) {
      kill();
      await killing;
    }
  }
}

/** The longest delay of a timer; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** undefined: never. */
export function afterDelay(ms: number | undefined, action: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(action, Math.min(Math.max(ms, 0), MAX_DELAY_MS));
}

type PipedChild = ChildProcessByStdio<Writable | null, Readable, Readable>;
type ProcessExit = Pick<Exit, "exitCode" | "signal" | "spawnError">;

/** Node throws some failures to start, such as arguments that are too long, and emits others as an event. */
function start({ file, args, cwd, env, stdin, makesPrivate }: Command, marker: string): PipedChild | Error {
  const options = { cwd, env: { ...env, [MARKER]: marker }, detached: true };
  // A child inherits the umask while `spawn` runs.
  const umask = makesPrivate ? process.umask(0o077) : undefined;
  try {
    if (stdin === undefined) return spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    return spawn(file, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  } catch (error) {
    return error as Error;
  } finally {
    if (umask !== undefined) process.umask(umask);
  }
}

function waitForExit(child: ChildProcess | Error): Promise<ProcessExit> {
  return new Promise((resolve) => {
    const fail = (spawnError: Error): void => resolve({ exitCode: null, signal: null, spawnError });
    if (child instanceof Error) return fail(child);
    child.once("error", fail);
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

/** Gives the terminal to a program until it exits. Ctrl+C reaches only that program. */
export async function interactive({ file, args, cwd, env }: Omit<Command, "stdin">): Promise<Exit> {
  const begun = elapsed();
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  try {
    const ending = await waitForExit(spawn(file, args, { cwd, env, stdio: "inherit" }));
    return { ...ending, durationMs: elapsed() - begun, timedOut: false };
  } finally {
    process.off("SIGINT", ignore);
  }
}

const MOST_CHARS = 8000;

/** Starts a program that outlives this process and its terminal. The caller can read its first output. */
export function startDetached({ file, args, cwd, env }: Command) {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  let end: { exitCode: number | null; said: string } | undefined;
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-MOST_CHARS);
  });
  child.once("error", (error) => {
    end = { exitCode: null, said: error.message };
  });
  child.once("close", (exitCode) => {
    end ??= { exitCode, said };
  });
  child.unref();
  return { ended: () => end };
}

export interface Capture extends Exit {
  ok: boolean;
  stdout: string;
  stderr: string;
}

export interface CaptureOptions extends RunOptions {
  /** The caller needs no more: ralph ends the program after so many bytes, and that is no failure. */
  maxBytes?: number;
  /** `latin1` keeps bytes that are not UTF-8, as in file names. */
  encoding?: "utf8" | "latin1";
}

/** Far more than any program prints whose output ralph reads as a whole. */
const MAX_BYTES = 64 * 1024 * 1024;
const CUT_OFF: Exit = { exitCode: null, signal: "SIGTERM", durationMs: 0, timedOut: false };

export async function capture(command: Command, options: CaptureOptions = {}): Promise<Capture> {
  const { maxBytes = Number.POSITIVE_INFINITY, encoding = "utf8" } = options;
  const pieces = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  const process = run(command, options);
  let step = await process.next();
  for (; !step.done && bytes <= maxBytes; step = await process.next()) {
    bytes += step.value.data.length;
    if (bytes <= MAX_BYTES) pieces[step.value.from].push(step.value.data);
  }
  // Leaving the generator ends the program.
  const exit = step.done ? step.value : (await process.return(CUT_OFF)).value;
  return {
    ...(exit as Exit),
    ok: !step.done || step.value.exitCode === 0,
    stdout: Buffer.concat(pieces.stdout).toString(encoding),
    stderr: Buffer.concat(pieces.stderr).toString(encoding),
  };
}
