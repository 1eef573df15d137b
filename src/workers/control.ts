import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { killTree } from "../process/kill.js";
import { isRunning } from "../process/table.js";
import type { LockHolder } from "../records/lock.js";
import { RUN_VARIABLE, runFolder } from "../records/runs.js";
import type { WorkerFolder } from "./folder.js";
import { logIteration } from "./iterations-log.js";
import { recordOf, type WorkerRecord } from "./record.js";
import { updateState } from "./state-file.js";
import type { Standing } from "./status.js";
import { type Pane, panesOf, type Tmux, tmuxAt } from "./tmux.js";

/** The agent at work finishes, and no other one is started. */
export function pauseWorker(home: string, folder: WorkerFolder, standing: Standing): void {
  requireRunning(folder, standing);
  writeFileSync(runFolder(home, recordOf(folder).run).pause, "", { flag: "a", mode: 0o600 });
  updateState(folder, ({ status }) => (status === "running" ? { status: "paused" } : {}));
}

/** For a loop that waits in its window. */
export function continueWorker(home: string, folder: WorkerFolder, maxIterations: number | undefined): void {
  updateState(folder, () => ({
    status: "running",
    ...(maxIterations !== undefined && { max_iterations: maxIterations }),
  }));
  rmSync(runFolder(home, recordOf(folder).run).pause, { force: true });
}

/** Longer than an agent is given to end, and a worktree to be committed. */
const END_MS = 40_000;
const POLL_MS = 25;
const GRACE_MS = 1000;

/** Ends a worker's loop and all that it started; its files stay. */
export async function killWorker(home: string, folder: WorkerFolder, { loop }: Standing): Promise<void> {
  const record = recordOf(folder);
  const tmux = tmuxAt(home, record.tmux);
  const panes = await panesOf(tmux, folder.name);
  if (loop !== undefined) await endLoop(loop, ["SIGHUP"]);
  await killTree({ marker: `${RUN_VARIABLE}=${record.run}` }, GRACE_MS);
  for (const { pane } of panes) await tmux.run(["kill-pane", "-t", pane]);
  rmSync(runFolder(home, record.run).pause, { force: true });
  updateState(folder, () => ({ status: "stopped" }));
  logIteration(folder, new Date(), "STOP", "killed");
  appendFileSync(folder.output, `[ralph] ${folder.name}: killed\n`, { mode: 0o600 });
}

/** Asks a loop to end at once, and makes it if it does not. */
export async function endLoop({ pid, startTime, run }: LockHolder, signals: NodeJS.Signals[]): Promise<void> {
  const until = performance.now() + END_MS;
  for (const signal of signals) {
    tell(pid, signal);
    await sleep(POLL_MS);
  }
  while (isRunning(pid, startTime) && performance.now() < until) await sleep(POLL_MS);
  if (isRunning(pid, startTime)) await killTree({ pid, marker: `${RUN_VARIABLE}=${run}` }, 0);
}

function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

export function requireRunning({ name }: WorkerFolder, { status }: Standing): void {
  if (status === "running" || status === "paused") return;
  throw new RalphError(`worker '${name}' is not running (${status})`, {
    code: "worker_not_running",
    exitCode: 1,
    hint: status === "crashed" ? `ralph resume ${name} goes on with it` : `ralph status ${name} tells more`,
  });
}

/** The panes of a worker that can be reached: of its loop, and of its agent while that has a terminal. */
export async function agentPane(
  home: string,
  record: WorkerRecord,
): Promise<{ tmux: Tmux; loop: Pane | undefined; agent: Pane | undefined }> {
  const tmux = tmuxAt(home, record.tmux);
  const [loop, agent] = await panesOf(tmux, record.name);
  return { tmux, loop, agent };
}
