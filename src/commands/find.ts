import { existsSync, realpathSync } from "node:fs";
import { orElse, RalphError } from "../errors.js";
import { has, readJson } from "../records/files.js";
import { LAST, ralphHome, runNamed } from "../records/home.js";
import { type LockHolder, livingLoops, lockHolder } from "../records/lock.js";
import { type RunFolder, runFolder, runsIn } from "../records/runs.js";
import type { SpecRecord } from "../records/spec.js";
import { hasAnswer } from "../records/words.js";
import { type RunSpec, readSpec } from "../run/spec.js";
import { didYouMean } from "../words.js";
import { isWorker, readRecord, workerFiles, workerNames } from "../workers/files.js";
import { readWorker, recordOf, type Worker, warnOfDamage } from "../workers/worker.js";
import { failure, warn } from "./output.js";

type RecipeKind = RunSpec["recipe"]["kind"];
export type WorkerOrRun = { worker: Worker } | { worker: undefined; run: RunFolder };

/** The run of this folder that a command takes if the user names none. */
const HERE = {
  latest: () => livingHere().at(-1) ?? latestRun(),
  living: livingRun,
  unfinished: () => currentRun(),
  asking: () => latestHere((run) => run.state()?.question !== undefined && !hasAnswer(run)) ?? latestRun(),
};

/** The loop that the user names, else the one of this folder. */
export function loopMeant(name: string | undefined, which: keyof typeof HERE): WorkerOrRun {
  return name === undefined ? asLoop(HERE[which]()) : workerOrRun(name);
}

/** Finds a worker by its name, else a run by its name, its id or `last`. The run of a worker gives that worker. */
export function workerOrRun(name: string, home = ralphHome()): WorkerOrRun {
  if (isWorker(home, name)) return { worker: workerIn(home, name) };
  if (name === LAST) return asLoop(lastRun());
  try {
    if (name !== "") return asLoop(runsIn(home).find(name));
  } catch (error) {
    if (!(error instanceof RalphError) || error.code !== "run_unknown") throw error;
  }
  const latest = runsIn().list(NAMES_READ);
  const meant = didYouMean(name, [...workerNames(home), ...latest.map((run) => run.name())]);
  const hint = "ralph ls lists the workers, ralph runs the runs";
  throw failure("worker_unknown", `no worker or run is called ${name}`, [meant ?? [], hint].flat().join(" "));
}

const NAMES_READ = 50;

export function workerNamed(name: string, home = ralphHome()): Worker {
  const found = workerOrRun(name, home);
  if (found.worker !== undefined) return found.worker;
  const what = `${found.run.name()} is a run, not a worker: its records stay`;
  throw failure("worker_needed", what, "ralph ls lists the workers");
}

/** `ralph answer NAME` without a text: the one argument would be taken for the text. */
export function refuseNameAlone(name: string | undefined, text: string, command: string): void {
  const home = ralphHome();
  const isKnown = text === LAST || isWorker(home, text) || runNamed(home, text) !== undefined;
  const isId = /^[\d-]+\w+$/.test(text) && existsSync(runFolder(home, text).specFile);
  if (name !== undefined || !(isKnown || isId)) return;
  throw failure("text_missing", `the text is missing`, `ralph ${command} ${text} "TEXT"`);
}

function asLoop(run: RunFolder): WorkerOrRun {
  const name = orElse(() => run.spec().worker, undefined);
  const isOwn = name !== undefined && readRecord(workerFiles(run.home, name))?.run === run.id;
  return isOwn ? { worker: workerIn(run.home, name) } : { worker: undefined, run };
}

function workerIn(home: string, name: string): Worker {
  const worker = readWorker(home, name);
  warnOfDamage(worker, warn);
  return worker;
}

export function runOf(found: WorkerOrRun): RunFolder {
  return found.worker === undefined ? found.run : runFolder(found.worker.home, recordOf(found.worker).run);
}

/** The same, for commands that need the work in this checkout. */
export function runHere(found: WorkerOrRun): RunFolder {
  const run = runOf(found);
  const { pushed, name = run.id } = run.shown();
  if (pushed === undefined) return run;
  throw failure(
    "run_elsewhere",
    `the work of ${name} is on ${pushed.branch} of ${pushed.remote}, and not in this checkout`,
    `git fetch ${pushed.remote} ${pushed.branch} brings it here as FETCH_HEAD; ralph fleet resume ${name} continues a job`,
  );
}

export function nameOf(found: WorkerOrRun): string {
  return found.worker === undefined ? found.run.name() : found.worker.name;
}

export function loopOf(run: RunFolder, name = run.name()): LockHolder {
  const loop = run.loop();
  if (loop === undefined) throw failure("run_not_running", `${name} is not running`, undefined, 1);
  return loop;
}

function lastRun(): RunFolder {
  const found = latestHere() ?? runsIn().list(1)[0];
  if (found !== undefined) return found;
  throw failure("run_unknown", "no run yet", 'ralph run "TEXT" starts one');
}

function livingRun(): RunFolder {
  const [first, ...others] = livingHere();
  if (first !== undefined && others.length === 0) return first;
  const folder = process.cwd();
  if (first === undefined)
    throw failure("run_unknown", `no run is running in ${folder}`, "ralph ls lists those elsewhere");
  const names = [first, ...others].map((run) => run.name()).join(", ");
  throw failure("run_unknown", `several runs are active in ${folder}: ${names}`, "say which one");
}

/** Those that a process works at now, the oldest first. */
function livingHere(): RunFolder[] {
  const home = ralphHome();
  const ids = livingLoops(home).map(({ run }) => run);
  return ids.sort().flatMap((id) => [runFolder(home, id)].filter((run) => isHere(run)));
}

/** The active run of this folder, else the latest one that can continue. */
export function currentRun(kind?: RecipeKind): RunFolder {
  const alive = lockHolder(ralphHome(), { workspace: process.cwd() });
  if (alive !== undefined) return runFolder(ralphHome(), alive.run);
  return latestRun(kind, "unfinished ", (run) => {
    const isFree = run.loop() === undefined || existsSync(run.pause);
    const isDone = run.state()?.success === true && followedRun(run)?.id !== run.id;
    if (!isFree || isDone) return false;
    // A worker that is gone has no window to open. A pipeline has no worker.
    return run.shown().worker === undefined || (kind === undefined && asLoop(run).worker !== undefined);
  });
}

/** The run whose pull request is being followed, if it is that one's, or the run is a round of it. */
export function followedRun(run: RunFolder): RunFolder | undefined {
  const { follows = run.id } = readSpec(run);
  const parent = runFolder(run.home, follows);
  const known = readJson(parent.github);
  const isOpen = has(known, { follow: "object" }) && (known["follow"] as { ended?: unknown }).ended === null;
  return isOpen ? parent : undefined;
}

/** The latest run of this folder, in any state. */
export function latestRun(kind?: RecipeKind, which = "", isWanted = (_: RunFolder) => true): RunFolder {
  const found = latestHere(isWanted, kind);
  if (found !== undefined) return found;
  const what = `no ${which}${kind ?? "run"} in ${process.cwd()}`;
  throw failure("run_unknown", what, "ralph runs lists all of them");
}

function latestHere(isWanted = (_: RunFolder) => true, kind?: RecipeKind): RunFolder | undefined {
  const isOf = belongsTo(process.cwd());
  const all = runsIn().list();
  return all.findLast((run) => isHere(run, kind, isOf) && isWanted(run));
}

/** A record that cannot be read belongs to no folder; `ralph runs` names it. */
function isHere(run: RunFolder, kind?: RecipeKind, isOf = belongsTo(process.cwd())): boolean {
  const spec = orElse(() => run.spec(), undefined);
  return spec !== undefined && (kind ?? spec.recipe.kind) === spec.recipe.kind && isOf(spec);
}

/** Whether a run belongs to this folder. Thousands of runs share a few folders. */
export function belongsTo(folder: string): (spec: SpecRecord) => boolean {
  const realPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path);
  const here = realPath(folder);
  const known = new Map<string | undefined, boolean>([[undefined, false]]);
  const isSame = (path: string | undefined): boolean => {
    const found = known.get(path) ?? realPath(path ?? "") === here;
    known.set(path, found);
    return found;
  };
  return ({ workspace, origin, worktree }) => [workspace, origin, worktree].some(isSame);
}
