import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsed } from "../elapsed.js";
import { orElse, RalphError } from "../errors.js";
import { killTree } from "../process/kill.js";
import { isRunning } from "../process/table.js";
import type { LockHolder } from "../records/lock.js";
import { RUN_VARIABLE, runFolder } from "../records/runs.js";
import { logIteration } from "./files.js";
import { updateState } from "./state-file.js";
import { type Pane, panesOf, type Tmux, tmuxAt } from "./tmux.js";
import { recordOf, type Worker } from "./worker.js";

/** The running agent finishes, and the loop starts no other. */
export function pauseWorker(worker: Worker): void {
  requireRunning(worker);
  writeFileSync(runFolder(worker.home, recordOf(worker).run).pause, "", { flag: "a", mode: 0o600 });
  updateState(worker, ({ status }) => (status === "running" ? { status: "paused" } : {}));
}

/** For a loop that waits in its window. */
export function continueWorker(worker: Worker, maxIterations: number | undefined): void {
  const limit = maxIterations !== undefined && { max_iterations: maxIterations };
  updateState(worker, () => ({ status: "running", ...limit }));
  rmSync(runFolder(worker.home, recordOf(worker).run).pause, { force: true });
}

/** Longer than an agent may take to end, and a worktree to be committed. */
const END_MS = 40_000;
const POLL_MS = 25;
const GRACE_MS = 1000;

/** Ends a worker's loop and everything it started; keeps its files. */
export async function killWorker(worker: Worker): Promise<void> {
  const run = runFolder(worker.home, recordOf(worker).run);
  const { tmux, ...panes } = await panesAt(worker);
  if (worker.loop !== undefined) await endLoop(worker.loop, ["SIGHUP"]);
  await killTree({ marker: `${RUN_VARIABLE}=${run.id}` }, GRACE_MS);
  for (const { pane } of Object.values(panes)) await tmux.run(["kill-pane", "-t", pane]);
  rmSync(run.pause, { force: true });
  updateState(worker, () => ({ status: "stopped", reason: "interrupted", result: "interrupted" }));
  logIteration(worker, new Date(), "STOP", "killed");
  appendFileSync(worker.outputLog, `[ralph] ${worker.name}: killed\n`, { mode: 0o600 });
}

/** Asks a loop to end now, and kills it if it does not. */
export async function endLoop({ pid, startTime, run }: LockHolder, signals: NodeJS.Signals[]): Promise<void> {
  const until = elapsed() + END_MS;
  for (const signal of signals) {
    // It may have exited by itself.
    orElse(() => process.kill(pid, signal), false);
    await sleep(POLL_MS);
  }
  while (isRunning(pid, startTime) && elapsed() < until) await sleep(POLL_MS);
  if (isRunning(pid, startTime)) await killTree({ pid, marker: `${RUN_VARIABLE}=${run}` }, 0);
}

export function requireRunning({ name, status }: Worker): void {
  if (status === "running" || status === "paused") return;
  throw new RalphError(`worker '${name}' is not running (${status})`, {
    code: "worker_not_running",
    exitCode: 1,
    hint: status === "crashed" ? `ralph resume ${name} continues it` : `ralph status ${name} shows more`,
  });
}

export async function panesAt(worker: Worker): Promise<{ tmux: Tmux; loop?: Pane; agent?: Pane }> {
  const tmux = tmuxAt(worker.home, recordOf(worker).tmux);
  return { tmux, ...(await panesOf(tmux, worker.name)) };
}

/** The content of a worker's window. */
export interface Screen {
  columns: number;
  rows: number;
  cursor: { column: number; row: number };
  /** Its lines, with their colours. */
  screen: string;
}

const FORMAT = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}";

/** The agent's own pane, else the loop's, looked at anew: tmux gives output to one reader, the loop. */
export async function screenOf(worker: Worker): Promise<Screen | undefined> {
  const { tmux, loop, agent } = await panesAt(worker);
  const pane = (agent ?? loop)?.pane;
  if (pane === undefined) return undefined;
  const look = ["display-message", "-p", "-t", pane, FORMAT, ";", "capture-pane", "-e", "-p", "-t", pane];
  const { ok, stdout } = await tmux.run(look);
  const [first = "", ...lines] = stdout.replace(/\n$/, "").split("\n");
  const [columns = 0, rows = 0, column = 0, row = 0] = first.split(" ").map(Number);
  return ok && columns > 0 ? { columns, rows, cursor: { column, row }, screen: lines.join("\n") } : undefined;
}

/** Types into it, byte by byte. false: the window is gone. */
export async function typeInto(worker: Worker, keys: string): Promise<boolean> {
  const { tmux, loop, agent } = await panesAt(worker);
  const pane = (agent ?? loop)?.pane;
  if (pane === undefined) return false;
  const bytes = [...Buffer.from(keys)].map((byte) => byte.toString(16).padStart(2, "0"));
  return (await tmux.run(["send-keys", "-t", pane, "-H", ...bytes])).ok;
}
