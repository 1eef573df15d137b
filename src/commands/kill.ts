import { existsSync, rmSync } from "node:fs";
import { RalphError } from "../errors.js";
import { ralphHome } from "../records/home.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { readSpec } from "../run/spec.js";
import { endLoop, killWorker } from "../workers/control.js";
import { workerNames } from "../workers/files.js";
import { readWorker, type Worker } from "../workers/worker.js";
import { git } from "../workspace/git.js";
import { branchOf, removeWorktree } from "../workspace/worktree/worktree.js";
import { loopNamed, loopOf, warn, workerNamed, workerOrRun } from "./find.js";

/** `ralph kill NAME…`: ends the loops and their agents. What they made stays. */
export async function kill(names: string[], flags: { rmWorktree?: boolean }): Promise<number> {
  const all = names.map((name) => workerOrRun(name));
  await Promise.all(all.map((found) => killFound(found, flags)));
  return 0;
}

async function killFound(
  found: ReturnType<typeof workerOrRun>,
  flags: { rmWorktree?: boolean },
): Promise<void> {
  if (found.worker === undefined) return await killRun(found.run);
  const { worker } = found;
  if (worker.record === undefined) return await killDamaged(worker);
  const worktree = flags.rmWorktree ? await worktreeOf(worker) : undefined;
  const { name, status, loop } = worker;
  if (loop === undefined && (status === "stopped" || status === "failed"))
    warn(`worker '${name}' is not running`);
  else {
    await killWorker(worker);
    process.stdout.write(`killed ${name}\n`);
  }
  if (worktree !== undefined) await remove(worktree);
}

/** Its own record cannot be read, but its loop may live. */
async function killDamaged({ home, name }: Worker): Promise<void> {
  const loop = loopNamed(home, name);
  if (loop === undefined) return void warn(`worker '${name}' is not running; ralph clean ${name} forgets it`);
  await endLoop(loop, ["SIGHUP"]);
  process.stdout.write(`killed ${name}\n`);
}

async function killRun(folder: RunFolder): Promise<void> {
  // The second signal ends the agent, too.
  await endLoop(loopOf(folder), ["SIGTERM", "SIGTERM"]);
  process.stdout.write(`killed run ${folder.id}\n`);
}

interface OwnWorktree {
  origin: string;
  path: string;
  isClean: boolean;
}

/** Looked at before the loop ends, because what is left over is committed then. */
async function worktreeOf({ home, name, record }: Worker): Promise<OwnWorktree | undefined> {
  const spec = record && readSpec(runFolder(home, record.run));
  if (spec?.worktree === undefined || !existsSync(spec.worktree)) {
    warn(`worker '${name}' has no worktree`);
    return undefined;
  }
  const changes = await git(spec.worktree, ["--no-optional-locks", "status", "--porcelain"]);
  return {
    origin: spec.origin ?? spec.worktree,
    path: spec.worktree,
    isClean: changes.ok && changes.stdout === "",
  };
}

/** The branch stays as long as it holds something that nobody has merged. */
async function remove({ origin, path, isClean }: OwnWorktree): Promise<void> {
  if (!isClean)
    return void warn(`the worktree ${path} was kept: it held changes that the agent had not committed`);
  if (await removeWorktree(origin, path)) {
    process.stdout.write(`removed the worktree ${path} and its branch\n`);
    return;
  }
  const { ok, stderr } = await git(origin, ["worktree", "remove", path]);
  if (!ok) return void warn(`the worktree ${path} was kept: ${stderr.trim().split("\n", 1)[0]}`);
  process.stdout.write(`removed the worktree ${path}; its work is on ${branchOf(path)}\n`);
}

/** `ralph clean [NAME]`: forgets workers that have ended. Their runs keep their records. */
export async function clean(names: string[]): Promise<number> {
  const home = ralphHome();
  const found = names.length === 0 ? ended(home) : names.map((name) => workerNamed(name, home));
  for (const worker of found) {
    const { name, status, loop = loopNamed(home, name) } = worker;
    if (loop !== undefined || status === "paused") {
      throw new RalphError(`worker '${name}' has not ended (${status})`, {
        code: "worker_running",
        exitCode: 1,
        hint: `ralph kill ${name} ends it`,
      });
    }
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
