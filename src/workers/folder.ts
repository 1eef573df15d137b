import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";

/** Where the files of one worker are: `$RALPH_HOME/workers/<name>/`. */
export interface WorkerFolder {
  name: string;
  path: string;
  /** What ralph needs to find the worker again. */
  record: string;
  /** What people and scripts read, and may edit. */
  state: string;
  /** A line for each thing that happened to an iteration. */
  iterations: string;
  /** What was shown in its window. */
  output: string;
  /** Held for a moment by whoever writes `state`. */
  turn: string;
}

export function workerFolder(home: string, name: string): WorkerFolder {
  const path = join(home, "workers", name);
  return {
    name,
    path,
    record: join(path, "worker.json"),
    state: join(path, "state.json"),
    iterations: join(path, "iterations.log"),
    output: join(path, "output.log"),
    turn: join(path, "turn.lock"),
  };
}

/** undefined: nobody has that name. */
export function findWorker(home: string, name: string): WorkerFolder | undefined {
  if (!isName(name)) return undefined;
  const folder = workerFolder(home, name);
  return statSync(folder.path, { throwIfNoEntry: false })?.isDirectory() ? folder : undefined;
}

export function listWorkers(home: string): WorkerFolder[] {
  const folder = join(home, "workers");
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const names = entries.flatMap((entry) => (entry.isDirectory() && isName(entry.name) ? [entry.name] : []));
  return names.sort().map((name) => workerFolder(home, name));
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

function isName(name: string): boolean {
  return NAME.test(name);
}

/** A name is a folder, a window of tmux and, with `--worktree`, a branch: what one of them minds is refused. */
export function checkName(name: string): string {
  if (isName(name)) return name;
  throw new RalphError(`--name ${JSON.stringify(name)} cannot be the name of a worker`, {
    code: "worker_name",
    hint: "letters, digits, - and _, at most 64, the first one a letter or a digit",
  });
}
