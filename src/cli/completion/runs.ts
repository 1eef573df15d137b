import { basename } from "node:path";
import { type RunFolder, runsIn } from "../../records/runs.js";
import type { Candidate } from "./values.js";

/** More than anybody reads through. */
const MAX_RUNS = 50;

/** The latest runs, the newest first. */
export async function runs(): Promise<Candidate[]> {
  const latest = runsIn().list(MAX_RUNS).reverse();
  return latest.map((run) => ({ value: run.id, description: describe(run) }));
}

function describe(run: RunFolder): string {
  try {
    const { recipe, workspace } = run.shown();
    const last = run.lastEvent();
    if (last === undefined) return "";
    const recorded = last.type === "run.paused" ? "paused" : "running";
    const status = last.type === "run.finished" ? `finished (${last.reason})` : run.status(recorded);
    return `${recipe.kind} in ${basename(workspace)}: ${status}`;
  } catch {
    return "";
  }
}
