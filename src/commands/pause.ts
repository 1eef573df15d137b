import { existsSync, writeFileSync } from "node:fs";
import { RalphError } from "../errors.js";
import { readSpec } from "../host/spec.js";
import { ralphHome } from "../state/home.js";
import { lockHolder } from "../state/lock.js";
import { currentRun, findRun } from "./find-run.js";

/** `ralph pause [RUN]`: the agent at work finishes, then the loop waits until it is resumed. */
export async function pause(name: string | undefined): Promise<number> {
  const home = ralphHome();
  const folder = name === undefined ? currentRun(home, process.cwd()) : findRun(home, name);
  if (lockHolder(home, readSpec(folder).workspace)?.run !== folder.id) {
    throw new RalphError(`run ${folder.id} is not running`, { code: "run_not_running", exitCode: 1 });
  }
  if (existsSync(folder.pause)) {
    process.stderr.write(`ralph: warning: run ${folder.id} is already paused\n`);
    return 0;
  }
  writeFileSync(folder.pause, "");
  process.stdout.write(`pausing run ${folder.id}: the agent at work finishes first\n`);
  return 0;
}
