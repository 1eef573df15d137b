import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import { makePrivateFolder } from "../records/files.js";
import { inTurn } from "../records/lock.js";
import type { Assignment } from "./assignment.js";
import { checkName, workerFiles } from "./files.js";
import { type FirstIteration, type Opener, openLoop } from "./open.js";
import { requireTmux, tmuxAt, tmuxSession } from "./tmux.js";
import { readWorker, workerRow } from "./worker.js";

/** Flags that make a worker of a command. */
export interface WorkerFlags {
  name: string;
  tag?: string[];
  env?: string[];
  cwd?: string;
  session?: string;
  tmuxSocket?: string;
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
  const ownEnv = Object.fromEntries((flags.env ?? []).map(variable));
  const name = checkName(flags.name);
  const cwd = folderIn(flags.cwd ?? ".");
  // tmux takes `.` and `:` in the name of a session for something else.
  if (session !== undefined && !/^[\w-]+$/.test(session))
    throw invalidFlag(`--session ${JSON.stringify(session)}: expected letters, digits, - and _`);
  if (tmuxSocket === "") throw invalidFlag('--tmux-socket "": expected a name');
  const env = { ...currentEnvironment(), ...ownEnv };
  return { name, argv, cwd, env, ownEnv, tags: flags.tag ?? [], tmux: tmuxSession(home, flags) };
}

export function currentEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function variable(given: string): [string, string] {
  const at = given.indexOf("=");
  const name = given.slice(0, Math.max(at, 0));
  if (/^[A-Za-z_]\w*$/.test(name)) return [name, given.slice(at + 1)];
  throw invalidFlag(`--env ${at === -1 ? given : name}: expected NAME=VALUE`);
}

function folderIn(given: string): string {
  const path = resolve(given);
  let why = "it is no folder";
  try {
    if (statSync(path).isDirectory()) return path;
  } catch (error) {
    why = describeSystemError(error);
  }
  throw invalidFlag(`--cwd ${given}: ${why}`);
}

function invalidFlag(message: string): RalphError {
  return new RalphError(message, { code: "flag_invalid" });
}

/**
 * Takes a name; of several processes that want it at the same moment, one gets it. The result either forgets what an
 * earlier worker of that name left, or puts everything back as it was.
 */
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
  paused: "ralph resume NAME goes on with it, ralph kill NAME ends it; or choose another --name",
  crashed: "ralph resume NAME goes on with it, ralph kill NAME gives it up; or choose another --name",
  unknown: "it may be starting at this moment; ralph clean NAME removes what is left of it",
};

/** A worker that has ended makes room; its runs keep their records. */
function refuseUnlessEnded(home: string, name: string): void {
  const worker = readWorker(home, name);
  let { status } = workerRow(worker);
  // Its process is there, whatever its files say.
  if (worker.loop !== undefined && status !== "waiting" && status !== "paused") status = "running";
  if (status === "stopped" || status === "failed") return;
  throw new RalphError(`worker '${name}' already exists (${status})`, {
    code: "worker_exists",
    exitCode: 1,
    hint: WHAT_TO_DO[status].replaceAll("NAME", name),
  });
}
