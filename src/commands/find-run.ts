import { existsSync, realpathSync } from "node:fs";
import { RalphError } from "../errors.js";
import { lockHolder } from "../records/lock.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import type { RunSpec } from "../run/spec.js";

type RecipeKind = RunSpec["recipe"]["kind"];

/**
 * The run that is at work in this folder, else the latest one that has not succeeded; a worker has a name.
 * `recipe`: of this kind.
 */
export function currentRun(home: string, workspace: string, recipe?: RecipeKind): RunFolder {
  const alive = lockHolder(home, { workspace });
  if (alive !== undefined) return runsIn(home).find(alive.run);
  const isOpen = (run: RunFolder): boolean =>
    run.shown().worker === undefined && run.state()?.success !== true;
  return (
    latest(home, workspace, recipe, isOpen) ?? missing(`no unfinished ${recipe ?? "run"} in ${workspace}`)
  );
}

/** The latest run of this folder, whatever became of it. */
export function latestRun(home: string, workspace: string, recipe?: RecipeKind): RunFolder {
  return latest(home, workspace, recipe) ?? missing(`no ${recipe ?? "run"} in ${workspace}`);
}

function latest(
  home: string,
  workspace: string,
  kind: RecipeKind | undefined,
  isWanted = (_run: RunFolder): boolean => true,
): RunFolder | undefined {
  return runsIn(home)
    .list()
    .findLast((run) => isFrom(run, workspace, kind) && isWanted(run));
}

function missing(what: string): never {
  throw new RalphError(what, { code: "run_unknown", hint: "ralph runs lists all of them" });
}

/** A record that cannot be read belongs to no folder; `ralph runs` names it. */
function isFrom(run: RunFolder, workspace: string, kind: RecipeKind | undefined): boolean {
  try {
    const { workspace: own, origin, worktree, recipe } = run.spec();
    if (kind !== undefined && recipe.kind !== kind) return false;
    return [own, origin, worktree].some((path) => path !== undefined && isSameFolder(path, workspace));
  } catch {
    return false;
  }
}

function isSameFolder(a: string, b: string): boolean {
  return a === b || (existsSync(a) && realpathSync(a) === realpathSync(b));
}
