import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsed } from "../elapsed.js";
import { RalphError } from "../errors.js";
import { PROGRAM } from "../package-folder.cjs";
import { createLineSplitter } from "../process/output.js";
import { makePrivateFolder } from "../records/files.js";
import { checkName } from "../records/home.js";
import { inTurn } from "../records/lock.js";
import { type Assignment, type WindowMessage, workerFiles } from "./files.js";
import { openWindow, requireTmux, type Tmux, tmuxAt, tmuxSession } from "./tmux.js";
import { readWorker, workerRow } from "./worker.js";

export interface Opener {
  /** Gets the loop's output until it has started. */
  hear(text: string): void;
  /** When aborted, the window closes, and the loop removes what it has created. */
  signal?: AbortSignal;
}

export interface FirstIteration {
  iteration: number;
  maxIterations: number;
}

export interface WorkerFlags {
  name: string;
  tag?: string[];
  env?: string[];
  cwd?: string;
  session?: string;
  tmuxSocket?: string;
  stdin?: string | undefined;
}

/** All or nothing: a worker that does not start leaves nothing behind. A number is its exit code. */
export async function spawnWorker(
  home: string,
  flags: WorkerFlags,
  argv: string[],
  opener: Opener,
): Promise<(FirstIteration & { session: string }) | number> {
  const assignment = assignmentFor(home, flags, argv);
  requireTmux();
  const release = reserveName(home, assignment.name);
  let opened: FirstIteration | number = 1;
  try {
    opened = await openLoop(tmuxAt(home, assignment.tmux), assignment, opener);
  } finally {
    release(typeof opened === "number" ? "give back" : "keep");
  }
  return typeof opened === "number" ? opened : { ...opened, session: assignment.tmux.session };
}

function assignmentFor(home: string, flags: WorkerFlags, argv: string[]): Assignment {
  const { session, tmuxSocket } = flags;
  const env = Object.fromEntries(
    (flags.env ?? []).map((given) => {
      const [, variable, value = ""] = /^([A-Za-z_]\w*)=(.*)$/s.exec(given) ?? [];
      if (variable !== undefined) return [variable, value];
      throw invalidFlag(`--env ${given.split("=", 1)[0]}: expected NAME=VALUE`);
    }),
  );
  const name = checkName(flags.name);
  const cwd = resolve(flags.cwd ?? ".");
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw invalidFlag(`--cwd ${flags.cwd}: no such folder`);
  // tmux gives `.` and `:` in a session's name another meaning.
  if (session !== undefined && !/^[\w-]+$/.test(session))
    throw invalidFlag(`--session ${JSON.stringify(session)}: expected letters, digits, - and _`);
  if (tmuxSocket === "") throw invalidFlag('--tmux-socket "": expected a name');
  return { name, argv, cwd, env, tags: flags.tag ?? [], stdin: flags.stdin, tmux: tmuxSession(home, flags) };
}

function invalidFlag(message: string): RalphError {
  return new RalphError(message, { code: "flag_invalid" });
}

/** Reserves a name for one of several processes. The result forgets an earlier worker, or restores it. */
function reserveName(home: string, name: string): (what: "keep" | "give back") => void {
  const { path } = workerFiles(home, name);
  const workers = dirname(path);
  const before = join(workers, `.${name}.before-${process.pid}`);
  makePrivateFolder(workers);
  return inTurn(join(workers, `.${name}.lock`), () => {
    const isReused = existsSync(path);
    if (isReused) refuseUnlessEnded(home, name);
    if (isReused) renameSync(path, before);
    mkdirSync(path, { mode: 0o700 });
    return (what) => {
      rmSync(what === "keep" ? before : path, { recursive: true, force: true });
      if (what === "give back" && isReused) renameSync(before, path);
    };
  });
}

const WHAT_TO_DO = {
  running: "ralph attach NAME shows it, ralph kill NAME ends it; or choose another --name",
  waiting: "ralph attach NAME shows it, ralph kill NAME ends it; or choose another --name",
  paused: "ralph resume NAME continues it, ralph kill NAME ends it; or choose another --name",
  crashed: "ralph resume NAME continues it, ralph kill NAME discards it; or choose another --name",
  unknown: "it may be starting right now; ralph clean NAME removes what is left of it",
};

/** A finished worker makes room; its runs keep their records. */
function refuseUnlessEnded(home: string, name: string): void {
  const worker = readWorker(home, name);
  let { status } = workerRow(worker);
  // Its process lives, whatever its files say.
  if (worker.loop !== undefined && status !== "waiting" && status !== "paused") status = "running";
  if (status === "stopped" || status === "failed") return;
  throw new RalphError(`worker '${name}' already exists (${status})`, {
    code: "worker_exists",
    exitCode: 1,
    hint: WHAT_TO_DO[status].replaceAll("NAME", name),
  });
}

/** How long the process in the window may take to connect; making a worktree may take much longer. */
const HELLO_MS = 30_000;
/** The path of a socket must be short. */
const LONGEST_FOLDER = 80;

/** Opens a window with a loop in it. Resolves when that has started, or with its exit code if it has not. */
export async function openLoop(
  tmux: Tmux,
  assignment: Assignment,
  opener: Opener,
): Promise<FirstIteration | number> {
  const folder = mkdtempSync(join(tmpdir().length <= LONGEST_FOLDER ? tmpdir() : "/tmp", "ralph-"));
  const path = join(folder, "s");
  const server = createServer();
  let pane: string | undefined;
  try {
    server.listen(path);
    await once(server, "listening");
    const conversation = converse(server, assignment, opener);
    conversation.catch(() => {});
    pane = await openWindow(tmux, assignment.name, [process.execPath, PROGRAM, "work", path]);
    const result = await conversation;
    if (typeof result !== "number") pane = undefined;
    return result;
  } finally {
    server.close();
    if (pane !== undefined) await untilClosed(tmux, pane);
    rmSync(folder, { recursive: true, force: true });
  }
}

const NEVER = new AbortController().signal;
const INTERRUPTED = 130;

/** Sends the assignment, and waits for the result. */
async function converse(
  server: Server,
  assignment: Assignment,
  { hear, signal = NEVER }: Opener,
): Promise<FirstIteration | number> {
  let socket: Socket | undefined;
  try {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(HELLO_MS)]);
    [socket] = (await once(server, "connection", { signal: patience })) as [Socket];
    signal.addEventListener("abort", () => socket?.destroy(), { once: true });
    const environment = { ...process.env, ...assignment.env };
    socket.write(`${JSON.stringify({ ...assignment, environment })}\n`);
    const lines = createLineSplitter();
    for await (const data of socket as AsyncIterable<Buffer>) {
      for (const message of lines.push(data).map((line) => JSON.parse(line) as WindowMessage)) {
        if (message.type === "started") return message;
        if (message.type === "ended") return message.exitCode;
        hear(message.text);
      }
    }
  } catch {
    // It is gone, or never existed.
  }
  if (signal.aborted) return INTERRUPTED;
  if (socket !== undefined) return 1;
  throw new RalphError(`no sign of the window within ${HELLO_MS / 1000} s`, {
    code: "worker_silent",
    exitCode: 1,
    hint: "is the machine very busy? Try again",
  });
}

const CLOSE_MS = 20_000;
const POLL_MS = 50;

/** A loop without its opener removes what it has created, and closes its window. */
async function untilClosed(tmux: Tmux, pane: string): Promise<void> {
  const until = elapsed() + CLOSE_MS;
  while (elapsed() < until) {
    const { stdout } = await tmux.run(["list-panes", "-a", "-F", "#{pane_id}"]);
    if (!stdout.split("\n").includes(pane)) return;
    await sleep(POLL_MS);
  }
  await tmux.run(["kill-pane", "-t", pane]);
}
