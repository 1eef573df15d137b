import { existsSync, realpathSync } from "node:fs";
import { RalphError } from "../errors.js";
import { didYouMean } from "../nearest.js";
import { ralphHome } from "../records/home.js";
import { type LockHolder, livingLoops, lockHolder } from "../records/lock.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import type { RunSpec } from "../run/spec.js";
import { isWorker, readRecord, workerFiles, workerNames } from "../workers/files.js";
import { readWorker, recordOf, type Worker, warnOfDamage } from "../workers/worker.js";

type RecipeKind = RunSpec["recipe"]["kind"];
type WorkerOrRun = { worker: Worker } | { worker: undefined; run: RunFolder };

/** A worker by its name. */
export function workerNamed(name: string, home = ralphHome()): Worker {
  if (isWorker(home, name)) return foundWorker(home, name);
  const run = unlessUnknown(() => (name === "" ? undefined : runsIn(home).find(name)));
  if (run === undefined) {
    const hint = [didYouMean(name, workerNames(home)) ?? [], "ralph ls lists them"].flat().join(" ");
    throw new RalphError(`no worker is called ${name}`, { code: "worker_unknown", hint });
  }
  const { id } = run;
  const own = workerOf(run);
  const others = `ralph status ${id} tells where it stands, ralph report ${id} what it did, ralph watch shows it live`;
  throw new RalphError(`${id} is a run, and this is for workers`, {
    code: "worker_unknown",
    hint: own === undefined ? others : `its worker is called ${own}`,
  });
}

/** A worker by its name, else a run by its id; the run of a worker is that worker. */
export function workerOrRun(name: string, home = ralphHome()): WorkerOrRun {
  if (isWorker(home, name)) return { worker: foundWorker(home, name) };
  let run: RunFolder;
  try {
    run = runsIn(home).find(name);
  } catch (error) {
    throw new RalphError(`no worker or run is called ${name}`, {
      code: "worker_unknown",
      hint: "ralph ls lists the workers, ralph runs the runs",
      cause: error,
    });
  }
  const own = name === "" ? undefined : workerOf(run);
  return own === undefined ? { worker: undefined, run } : { worker: foundWorker(home, own) };
}

/** The run itself, or that of the worker's loop. */
export function runOf(found: WorkerOrRun): RunFolder {
  return found.worker === undefined ? found.run : runFolder(found.worker.home, recordOf(found.worker).run);
}

function workerOf(run: RunFolder): string | undefined {
  return unlessUnknown(() => {
    const name = run.spec().worker ?? "";
    return readRecord(workerFiles(run.home, name))?.run === run.id ? name : undefined;
  });
}

function unlessUnknown<Result>(find: () => Result | undefined): Result | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

function foundWorker(home: string, name: string): Worker {
  const worker = readWorker(home, name);
  warnOfDamage(worker, warn);
  return worker;
}

/** The loop of a worker whose own record cannot be read: its run knows whose it is. */
export function loopNamed(home: string, name: string): LockHolder | undefined {
  return livingLoops(home).find(
    ({ run }) => unlessUnknown(() => runFolder(home, run).spec().worker) === name,
  );
}

/** The loop of a run that is at work. */
export function loopOf(run: RunFolder): LockHolder {
  const loop = run.loop();
  if (loop !== undefined) return loop;
  throw new RalphError(`run ${run.id} is not running`, { code: "run_not_running", exitCode: 1 });
}

/** The run that is at work in this folder, else the latest one that has not succeeded; a worker has a name. */
export function currentRun(kind?: RecipeKind): RunFolder {
  const alive = lockHolder(ralphHome(), { workspace: process.cwd() });
  if (alive !== undefined) return runsIn().find(alive.run);
  return latestRun(kind, "unfinished ", (run) => {
    return run.shown().worker === undefined && run.state()?.success !== true;
  });
}

/** The latest run of this folder, whatever became of it. */
export function latestRun(kind?: RecipeKind, which = "", isWanted?: (run: RunFolder) => boolean): RunFolder {
  const folder = process.cwd();
  const found = runsIn()
    .list()
    .findLast((run) => isFrom(run, folder, kind) && isWanted?.(run) !== false);
  if (found !== undefined) return found;
  throw new RalphError(`no ${which}${kind ?? "run"} in ${folder}`, {
    code: "run_unknown",
    hint: "ralph runs lists all of them",
  });
}

/** A record that cannot be read belongs to no folder; `ralph runs` names it. */
function isFrom(run: RunFolder, folder: string, kind: RecipeKind | undefined): boolean {
  const isOwn = unlessUnknown(() => {
    const { workspace, origin, worktree, recipe } = run.spec();
    if (kind !== undefined && recipe.kind !== kind) return false;
    return [workspace, origin, worktree].some((path) => path !== undefined && isSameFolder(path, folder));
  });
  return isOwn === true;
}

function isSameFolder(a: string, b: string): boolean {
  return a === b || (existsSync(a) && realpathSync(a) === realpathSync(b));
}

/** What a command has done, and its exit code. */
export function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

/** What a command need not do, and its exit code. */
export function warn(text: string): number {
  process.stderr.write(`ralph: warning: ${text}\n`);
  return 0;
}
