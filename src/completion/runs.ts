import { basename } from "node:path";
import type { LoopEvent } from "../events.js";
import { glanceAt } from "../state/glance.js";
import { ralphHome } from "../state/home.js";
import { lockHolder } from "../state/lock.js";
import { latestRunFolders, type RunFolder } from "../state/runs.js";
import type { Candidate } from "./values.js";

/** More than anybody reads through. */
const MAX_RUNS = 50;

/** The latest runs, the newest first. */
export async function runs(): Promise<Candidate[]> {
  const home = ralphHome();
  return latestRunFolders(home, MAX_RUNS).map((folder) => ({
    value: folder.id,
    description: describe(home, folder),
  }));
}

function describe(home: string, folder: RunFolder): string {
  try {
    const { first, last } = glanceAt(folder.journal);
    if (first?.type !== "run.started") return "";
    const { recipe, workspace } = first;
    return `${recipe} in ${basename(workspace)}: ${status(last, () => isAlive(home, workspace, folder.id))}`;
  } catch {
    return "";
  }
}

/** In the words of `ralph runs`. */
function status(last: LoopEvent | undefined, isAtWork: () => boolean): string {
  if (last?.type === "run.finished") return `finished (${last.reason})`;
  if (!isAtWork()) return "crashed";
  return last?.type === "run.paused" ? "paused" : "running";
}

function isAlive(home: string, workspace: string, run: string): boolean {
  try {
    return lockHolder(home, workspace)?.run === run;
  } catch {
    return false;
  }
}
