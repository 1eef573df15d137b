import { existsSync, writeFileSync } from "node:fs";
import type { RunFolder } from "../records/runs.js";
import { pauseWorker } from "../workers/control.js";
import { currentRun, loopOf, warn, workerOrRun } from "./find.js";

/** `ralph pause [NAME]`: the agent at work finishes, then the loop waits until it is resumed. */
export async function pause(name: string | undefined): Promise<number> {
  const found = workerOrRun(name ?? currentRun().id);
  if (found.worker === undefined) return pauseRun(found.run);
  const { worker } = found;
  if (worker.status === "paused") {
    warn(`worker '${worker.name}' is already paused`);
    return 0;
  }
  pauseWorker(worker);
  process.stdout.write(`paused ralph loop for ${worker.name}\n`);
  return 0;
}

/** After these, no agent is at work. */
const WAITS: string[] = ["limit.waiting", "backoff.started"];
const NOBODY = "no agent is at work, it waits no longer";

function pauseRun(folder: RunFolder): number {
  loopOf(folder);
  if (existsSync(folder.pause)) {
    warn(`run ${folder.id} is already paused`);
    return 0;
  }
  const waits = WAITS.includes(folder.lastEvent()?.type ?? "");
  writeFileSync(folder.pause, "", { flag: "a", mode: 0o600 });
  process.stdout.write(`pausing run ${folder.id}: ${waits ? NOBODY : "the agent at work finishes first"}\n`);
  return 0;
}
