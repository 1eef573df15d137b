import { existsSync, realpathSync } from "node:fs";
import { RalphError } from "../errors.js";
import { readSpec } from "../host/spec.js";
import { listRunFolders, type RunFolder, readRun } from "../state/runs.js";

/** A run by its id, or by the beginning of it. */
export function findRun(home: string, name: string): RunFolder {
  const found = listRunFolders(home).filter(({ id }) => id.startsWith(name));
  const exact = found.find(({ id }) => id === name);
  if (exact !== undefined) return exact;
  if (found.length === 1) return found[0] as RunFolder;
  const what = found.length === 0 ? `no run is called ${name}` : `several runs begin with ${name}`;
  throw new RalphError(what, { code: "run_unknown", hint: "ralph runs lists them" });
}

export function latestUnfinished(home: string, workspace: string): RunFolder {
  const found = listRunFolders(home).findLast(
    (folder) => isOf(folder, workspace) && readRun(folder)?.state.success !== true,
  );
  if (found !== undefined) return found;
  throw new RalphError(`no unfinished run in ${workspace}`, {
    code: "run_unknown",
    hint: "ralph runs lists all of them",
  });
}

function isOf(folder: RunFolder, workspace: string): boolean {
  const { workspace: own } = readSpec(folder);
  return own === workspace || (existsSync(own) && realpathSync(own) === realpathSync(workspace));
}
