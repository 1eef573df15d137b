import { existsSync, realpathSync } from "node:fs";
import { RalphError } from "../errors.js";
import { lockHolder } from "../records/lock.js";
import { listRunFolders, type RunFolder, readRun, runFolder } from "../records/runs.js";
import { type RunSpec, readSpec } from "../run/spec.js";
import { findWorker } from "../workers/folder.js";
import { readRecord } from "../workers/record.js";

/** A run by its id, by the beginning of it, or by the name of its worker. */
export function findRun(home: string, name: string): RunFolder {
  const worker = findWorker(home, name);
  const run = worker && readRecord(worker)?.run;
  return run === undefined ? runById(home, name) : runFolder(home, run);
}

function runById(home: string, name: string): RunFolder {
  const found = listRunFolders(home).filter(({ id }) => id.startsWith(name));
  const exact = found.find(({ id }) => id === name);
  if (exact !== undefined) return exact;
  if (found.length === 1) return found[0] as RunFolder;
  const what = found.length === 0 ? `no run is called ${name}` : `several runs begin with ${name}`;
  throw new RalphError(what, { code: "run_unknown", hint: "ralph runs lists them" });
}

type RecipeKind = RunSpec["recipe"]["kind"];

/**
 * The run that is at work in this folder, else the latest one that has not succeeded; a worker has a name.
 * `recipe`: of this kind.
 */
export function currentRun(home: string, workspace: string, recipe?: RecipeKind): RunFolder {
  const alive = lockHolder(home, { workspace });
  if (alive !== undefined) return findRun(home, alive.run);
  const found = listRunFolders(home).findLast(
    (folder) =>
      isFrom(folder, workspace, recipe) && !isWorkers(folder) && readRun(folder)?.state.success !== true,
  );
  if (found !== undefined) return found;
  throw new RalphError(`no unfinished ${recipe ?? "run"} in ${workspace}`, {
    code: "run_unknown",
    hint: "ralph runs lists all of them",
  });
}

/** The latest run of this folder, whatever became of it. */
export function latestRun(home: string, workspace: string, recipe?: RecipeKind): RunFolder {
  const found = listRunFolders(home).findLast((folder) => isFrom(folder, workspace, recipe));
  if (found !== undefined) return found;
  throw new RalphError(`no ${recipe ?? "run"} in ${workspace}`, {
    code: "run_unknown",
    hint: "ralph runs lists all of them",
  });
}

/** A record that cannot be read belongs to nobody who asks; `ralph runs` names it. */
function isFrom(folder: RunFolder, workspace: string, kind: RecipeKind | undefined): boolean {
  try {
    const { workspace: own, origin, worktree, recipe } = readSpec(folder);
    if (kind !== undefined && recipe.kind !== kind) return false;
    return [own, origin, worktree].some((place) => place !== undefined && isSameFolder(place, workspace));
  } catch {
    return false;
  }
}

function isWorkers(folder: RunFolder): boolean {
  return readSpec(folder).worker !== undefined;
}

function isSameFolder(a: string, b: string): boolean {
  return a === b || (existsSync(a) && realpathSync(a) === realpathSync(b));
}
