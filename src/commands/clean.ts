import { rmSync } from "node:fs";
import { RalphError } from "../errors.js";
import { ralphHome } from "../state/home.js";
import { listWorkers } from "../workers/folder.js";
import { standingOf } from "../workers/status.js";
import { loopNamed, workerNamed } from "./find-worker.js";

/** `ralph clean [NAME]`: forgets workers that have ended. Their runs keep their records. */
export async function clean(names: string[]): Promise<number> {
  const home = ralphHome();
  const found = names.length === 0 ? ended(home) : names.map((name) => workerNamed(name, home).folder);
  for (const folder of found) {
    const { status, loop = loopNamed(home, folder.name) } = standingOf(folder, home);
    if (loop !== undefined || status === "paused" || status === "crashed")
      throw notEnded(folder.name, status);
    rmSync(folder.path, { recursive: true, force: true });
    process.stdout.write(`cleaned ${folder.name}\n`);
  }
  if (found.length === 0) process.stdout.write("nothing to clean\n");
  return 0;
}

function ended(home: string) {
  return listWorkers(home).filter((folder) => {
    const { status } = standingOf(folder, home);
    return status === "stopped" || status === "failed";
  });
}

function notEnded(name: string, status: string): RalphError {
  return new RalphError(`worker '${name}' has not ended (${status})`, {
    code: "worker_running",
    exitCode: 1,
    hint: `ralph kill ${name} ends it`,
  });
}
