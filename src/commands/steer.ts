import { RalphError } from "../errors.js";
import { readSpec } from "../host/spec.js";
import { isAtWork } from "../state/run-status.js";
import { runFolder } from "../state/runs.js";
import { addSteering } from "../state/steering.js";
import { recordOf } from "../workers/record.js";
import { workerOrRun } from "./find-worker.js";
import { saysSomething } from "./flags.js";

/** `ralph steer NAME TEXT`: tells the next iteration something, once. */
export async function steer(name: string, text: string): Promise<number> {
  saysSomething("TEXT", text);
  const found = workerOrRun(name);
  const run = "run" in found ? found.run : runFolder(found.home, recordOf(found.folder).run);
  const isWaiting = "run" in found ? false : found.standing.status === "paused";
  if (!isWaiting && !isAtWork(found.home, run.id, readSpec(run).workspace)) {
    throw new RalphError(`${name} is not running`, { code: "run_not_running", exitCode: 1 });
  }
  addSteering(run, text);
  process.stdout.write(`the next iteration of ${name} is told\n`);
  return 0;
}
