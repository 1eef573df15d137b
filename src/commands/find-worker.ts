import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { ralphHome } from "../records/home.js";
import { type LockHolder, livingLoops } from "../records/lock.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import { findWorker, listWorkers, type WorkerFolder } from "../workers/folder.js";
import { warnOf } from "../workers/look.js";
import { recordOf } from "../workers/record.js";
import { type Standing, standingOf } from "../workers/status.js";

export interface FoundWorker {
  home: string;
  folder: WorkerFolder;
  standing: Standing;
}

type Found = FoundWorker | { home: string; run: RunFolder };

/** A worker by its name. */
export function workerNamed(name: string, home = ralphHome()): FoundWorker {
  const folder = findWorker(home, name);
  if (folder !== undefined) return found(home, folder);
  const run = unlessUnknown(() => (name === "" ? undefined : runsIn(home).find(name)));
  if (run !== undefined) throw noWorkerButRun(run);
  const meant = nearest(
    name,
    listWorkers(home).map((worker) => worker.name),
  );
  throw new RalphError(`no worker is called ${name}`, {
    code: "worker_unknown",
    hint: meant === undefined ? "ralph ls lists them" : `did you mean ${meant}? ralph ls lists them`,
  });
}

function noWorkerButRun(run: RunFolder): RalphError {
  const { id } = run;
  const own = workerOf(run)?.name;
  return new RalphError(`${id} is a run, and this is for workers`, {
    code: "worker_unknown",
    hint:
      own === undefined
        ? `ralph status ${id} tells where it stands, ralph report ${id} what it did, ralph watch shows it live`
        : `its worker is called ${own}`,
  });
}

/** A worker by its name, else a run by its id; the run of a worker is that worker. */
export function workerOrRun(name: string, home = ralphHome()): Found {
  const own = findWorker(home, name);
  if (own !== undefined) return found(home, own);
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
  const folder = name === "" ? undefined : workerOf(run);
  return folder === undefined ? { home, run } : found(home, folder);
}

/** The run itself, or the one that the worker's loop works at. */
export function runOf(one: Found): RunFolder {
  return "run" in one ? one.run : runFolder(one.home, recordOf(one.folder).run);
}

function workerOf(run: RunFolder): WorkerFolder | undefined {
  return unlessUnknown(() => {
    const folder = findWorker(run.home, run.spec().worker ?? "");
    return folder && standingOf(folder, run.home).record?.run === run.id ? folder : undefined;
  });
}

function unlessUnknown<Result>(find: () => Result | undefined): Result | undefined {
  try {
    return find();
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
  return livingLoops(home).find(
    ({ run }) => unlessUnknown(() => runFolder(home, run).spec().worker) === name,
  );
}

export function warn(text: string): void {
  process.stderr.write(`ralph: warning: ${text}\n`);
}
