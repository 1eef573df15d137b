import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { ralphHome } from "../records/home.js";
import { type LockHolder, livingLoops } from "../records/lock.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { readSpec } from "../run/spec.js";
import { findWorker, listWorkers, type WorkerFolder } from "../workers/folder.js";
import { warnOf } from "../workers/look.js";
import { type Standing, standingOf } from "../workers/status.js";
import { findRun } from "./find-run.js";

export interface FoundWorker {
  home: string;
  folder: WorkerFolder;
  standing: Standing;
}

/** A worker by its name. */
export function workerNamed(name: string, home = ralphHome()): FoundWorker {
  const folder = findWorker(home, name);
  if (folder !== undefined) return found(home, folder);
  const run = runNamed(home, name);
  if (run !== undefined) throw noWorkerButRun(home, run);
  const names = listWorkers(home).map((worker) => worker.name);
  const meant = nearest(name, names);
  throw new RalphError(`no worker is called ${name}`, {
    code: "worker_unknown",
    hint: meant === undefined ? "ralph ls lists them" : `did you mean ${meant}? ralph ls lists them`,
  });
}

function runNamed(home: string, name: string): RunFolder | undefined {
  try {
    return name === "" ? undefined : findRun(home, name);
  } catch {
    return undefined;
  }
}

function noWorkerButRun(home: string, { id }: RunFolder): RalphError {
  const own = workerOfRun(home, id)?.name;
  return new RalphError(`${id} is a run, and this is for workers`, {
    code: "worker_unknown",
    hint:
      own === undefined
        ? `ralph status ${id} tells where it stands, ralph report ${id} what it did, ralph watch shows it live`
        : `its worker is called ${own}`,
  });
}

/** A worker by its name, else a run by its id; the run of a worker is that worker. */
export function workerOrRun(
  name: string,
  home = ralphHome(),
): FoundWorker | { home: string; run: RunFolder } {
  const folder = findWorker(home, name) ?? workerOfRun(home, name);
  if (folder !== undefined) return found(home, folder);
  try {
    return { home, run: findRun(home, name) };
  } catch (error) {
    throw new RalphError(`no worker or run is called ${name}`, {
      code: "worker_unknown",
      hint: "ralph ls lists the workers, ralph runs the runs",
      cause: error,
    });
  }
}

function workerOfRun(home: string, name: string): WorkerFolder | undefined {
  const run = runNamed(home, name);
  if (run === undefined) return undefined;
  try {
    const folder = findWorker(home, readSpec(run).worker ?? "");
    return folder !== undefined && standingOf(folder, home).record?.run === run.id ? folder : undefined;
  } catch {
    return undefined;
  }
}

function found(home: string, folder: WorkerFolder): FoundWorker {
  const standing = standingOf(folder, home);
  warnOf(folder, standing, warn);
  return { home, folder, standing };
}

/** The loop of a worker whose own record cannot be read: its run knows whose it is. */
export function loopNamed(home: string, name: string): LockHolder | undefined {
  return livingLoops(home).find(({ run }) => {
    try {
      return readSpec(runFolder(home, run)).worker === name;
    } catch {
      return false;
    }
  });
}

export function warn(text: string): void {
  process.stderr.write(`ralph: warning: ${text}\n`);
}
