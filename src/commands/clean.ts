import { rmSync } from "node:fs";
import { RalphError } from "../errors.js";
import { ralphHome } from "../records/home.js";
import { killWorker } from "../workers/control.js";
import { listWorkers } from "../workers/folder.js";
import { standingOf } from "../workers/status.js";
import { loopNamed, workerNamed } from "./find-worker.js";

/** `ralph clean [NAME]`: forgets workers that have ended. Their runs keep their records. */
export async function clean(names: string[]): Promise<number> {
  const home = ralphHome();
  const found = names.length === 0 ? ended(home) : names.map((name) => workerNamed(name, home).folder);
  for (const folder of found) {
    const standing = standingOf(folder, home);
    const { status, loop = loopNamed(home, folder.name) } = standing;
    if (loop !== undefined || status === "paused") throw notEnded(folder.name, status);
    // What its loop started may live on, and nobody would find it any more.
    if (status === "crashed") await killWorker(home, folder, standing);
    rmSync(folder.path, { recursive: true, force: true });
    process.stdout.write(`cleaned ${folder.name}\n`);
  }
  if (found.length === 0) process.stdout.write("nothing to clean\n");
  return 0;
}

function ended(home: string) {
  return listWorkers(home).filter((folder) => {
    const { status, loop } = standingOf(folder, home);
    return loop === undefined && ["stopped", "failed", "crashed"].includes(status);
  });
}

function notEnded(name: string, status: string): RalphError {
  return new RalphError(`worker '${name}' has not ended (${status})`, {
    code: "worker_running",
    exitCode: 1,
    hint: `ralph kill ${name} ends it`,
  });
}
