import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { RalphError } from "../errors.js";
import { makePrivateFolder } from "../records/files.js";
import { inTurn } from "../records/lock.js";
import { type WorkerFolder, workerFolder } from "./folder.js";
import type { Glance } from "./glance.js";
import { glanceAtWorker } from "./look.js";
import { standingOf } from "./status.js";

export interface Reservation {
  folder: WorkerFolder;
  /** The worker is there: what an earlier one of its name left is forgotten. */
  keep(): void;
  /** It never came to be: all is as it was. */
  giveBack(): void;
}

/** Takes a name. Of several who want it at the same moment, one gets it. */
export function reserveName(home: string, name: string): Reservation {
  const folder = workerFolder(home, name);
  const workers = dirname(folder.path);
  makePrivateFolder(workers);
  return inTurn(join(workers, `.${name}.lock`), () => {
    const before = existsSync(folder.path) ? moveAway(home, folder) : undefined;
    mkdirSync(folder.path, { mode: 0o700 });
    return {
      folder,
      keep: () => before !== undefined && rmSync(before, { recursive: true, force: true }),
      giveBack() {
        rmSync(folder.path, { recursive: true, force: true });
        if (before !== undefined) renameSync(before, folder.path);
      },
    };
  });
}

/** One that has ended makes room; its runs keep their records. */
function moveAway(home: string, folder: WorkerFolder): string {
  const standing = standingOf(folder, home);
  const { status, loop } = standing;
  if (loop !== undefined) throw taken(folder.name, statusOfLoop(glanceAtWorker(home, folder, standing)));
  if (status !== "stopped" && status !== "failed") throw taken(folder.name, status);
  const away = join(dirname(folder.path), `.${folder.name}.before-${process.pid}`);
  renameSync(folder.path, away);
  return away;
}

/** Its process is there, whatever its files say. */
function statusOfLoop({ status }: Glance): string {
  return status === "waiting" || status === "paused" ? status : "running";
}

const WHAT_TO_DO: Record<string, string> = {
  running: "ralph attach NAME shows it, ralph kill NAME ends it; or choose another --name",
  waiting: "ralph attach NAME shows it, ralph kill NAME ends it; or choose another --name",
  paused: "ralph resume NAME goes on with it, ralph kill NAME ends it; or choose another --name",
  crashed: "ralph resume NAME goes on with it, ralph kill NAME gives it up; or choose another --name",
  unknown: "it may be starting at this moment; ralph clean NAME removes what is left of it",
};

function taken(name: string, status: string): RalphError {
  return new RalphError(`worker '${name}' already exists (${status})`, {
    code: "worker_exists",
    exitCode: 1,
    hint: (WHAT_TO_DO[status] ?? "").replaceAll("NAME", name),
  });
}
