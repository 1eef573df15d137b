import { basename } from "node:path";
import { glanceAt } from "../../records/glance.js";
import { ralphHome } from "../../records/home.js";
import { runStatus } from "../../records/run-status.js";
import { latestRunFolders, type RunFolder } from "../../records/runs.js";
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
    const recorded =
      last?.type === "run.finished" ? "finished" : last?.type === "run.paused" ? "paused" : "running";
    const status = runStatus(home, folder.id, workspace, recorded);
    const reason = last?.type === "run.finished" ? ` (${last.reason})` : "";
    return `${recipe} in ${basename(workspace)}: ${status}${reason}`;
  } catch {
    return "";
  }
}
