import { RalphError } from "../errors.js";
import { nearest } from "../nearest.js";
import { ralphHome } from "../records/home.js";
import { type LockHolder, livingLoops } from "../records/lock.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import { isWorker, readRecord, workerFiles, workerNames } from "../workers/files.js";
import { readWorker, recordOf, type Worker, warnOfDamage } from "../workers/worker.js";

type WorkerOrRun = { worker: Worker } | { worker: undefined; run: RunFolder };

/** A worker by its name. */
export function workerNamed(name: string, home = ralphHome()): Worker {
  if (isWorker(home, name)) return foundWorker(home, name);
  const run = unlessUnknown(() => (name === "" ? undefined : runsIn(home).find(name)));
  if (run !== undefined) throw noWorkerButRun(run);
  const meant = nearest(name, workerNames(home));
  throw new RalphError(`no worker is called ${name}`, {
    code: "worker_unknown",
    hint: meant === undefined ? "ralph ls lists them" : `did you mean ${meant}? ralph ls lists them`,
  });
}

function noWorkerButRun(run: RunFolder): RalphError {
  const { id } = run;
  const own = workerOf(run);
  return new RalphError(`${id} is a run, and this is for workers`, {
    code: "worker_unknown",
    hint:
      own === undefined
        ? `ralph status ${id} tells where it stands, ralph report ${id} what it did, ralph watch shows it live`
        : `its worker is called ${own}`,
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

export function warn(text: string): void {
  process.stderr.write(`ralph: warning: ${text}\n`);
}
