import { rmSync } from "node:fs";
import { RalphError } from "../errors.js";
import { ralphHome } from "../records/home.js";
import { killWorker } from "../workers/control.js";
import { workerNames } from "../workers/files.js";
import { readWorker, type Worker } from "../workers/worker.js";
import { loopNamed, workerNamed } from "./find-worker.js";

/** `ralph clean [NAME]`: forgets workers that have ended. Their runs keep their records. */
export async function clean(names: string[]): Promise<number> {
  const home = ralphHome();
  const found = names.length === 0 ? ended(home) : names.map((name) => workerNamed(name, home));
  for (const worker of found) {
    const { name, status, loop = loopNamed(home, name) } = worker;
    if (loop !== undefined || status === "paused") throw notEnded(name, status);
    // What its loop started may live on, and could not be found any more.
    if (status === "crashed") await killWorker(worker);
    rmSync(worker.path, { recursive: true, force: true });
    process.stdout.write(`cleaned ${name}\n`);
  }
  if (found.length === 0) process.stdout.write("nothing to clean\n");
  return 0;
}

function ended(home: string): Worker[] {
  const workers = workerNames(home).map((name) => readWorker(home, name));
  return workers.filter(
    ({ status, loop }) => loop === undefined && ["stopped", "failed", "crashed"].includes(status),
  );
}

function notEnded(name: string, status: string): RalphError {
  return new RalphError(`worker '${name}' has not ended (${status})`, {
    code: "worker_running",
    exitCode: 1,
    hint: `ralph kill ${name} ends it`,
  });
}
