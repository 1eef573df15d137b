import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { RecipeSpec } from "../recipes/registry.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { readSpec } from "../run/spec.js";
import { checkFolder } from "../run/target.js";
import {
  attributeOf,
  DEFAULT_LIMITS,
  flagWords,
  LIMIT_ROWS,
  limitsFrom,
  longName,
} from "../settings/limits.js";
import { isSuccess } from "../stop-reasons.js";
import { quoteWord } from "../words.js";
import { continueWorker, endLoop, pauseWorker } from "../workers/control.js";
import { assignment } from "../workers/files.js";
import { openLoop } from "../workers/spawn.js";
import { updateState } from "../workers/state-file.js";
import { requireTmux, tmuxAt } from "../workers/tmux.js";
import { endOf, recordOf, type Worker } from "../workers/worker.js";
import { followedRun, loopMeant, loopOf, runHere } from "./find.js";
import { failure, say, warn } from "./output.js";
import { continueRun, type ResumeFlags } from "./start-run.js";

/**
 * `ralph resume [LOOP]`: continues a run or a worker that was paused, stopped, interrupted or killed. `recipe`
 * replaces its own.
 */
export async function resume(
  name: string | undefined,
  flags: ResumeFlags,
  recipe?: RecipeSpec,
): Promise<number> {
  const found = loopMeant(name, "unfinished");
  if (found.worker !== undefined && assignment() === undefined) return resumeWorker(found.worker, flags);
  const folder = runHere(found);
  checkFolder(readSpec(folder));
  if (folder.loop() !== undefined) return endPause(folder, flags);
  const followed = recipe === undefined ? followedRun(folder) : undefined;
  if (followed === undefined) return continueRun(folder, flags, recipe);
  return (await import("./github.js")).follow(followed.id, flags);
}

/** The loop is alive: it continues in its terminal, with its flags. */
function endPause(folder: RunFolder, flags: ResumeFlags): number {
  const name = folder.name();
  const isPaused = existsSync(folder.pause);
  const isWaiting = !isPaused && folder.state()?.status === "waiting";
  const now = isPaused ? "paused" : isWaiting ? "waiting for a usage limit to end" : "running";
  refuseLimits(name, flags, `run ${name} is ${now}`);
  if (!isPaused) return warn(`run ${name} is ${now}${isWaiting ? "," : ""} and not paused`);
  rmSync(folder.pause, { force: true });
  return say(`resumed run ${name}`);
}

/** Continues a worker's paused loop where it is, and one that has ended in a new window. */
async function resumeWorker(worker: Worker, { inhibit, ...flags }: ResumeFlags): Promise<number> {
  const { name, status, loop } = worker;
  if (status === "running") return refuseRunning(worker, flags);
  const limits = givenLimits(flags);
  const isDone = status === "stopped" && isSuccess(endOf(worker)?.reason);
  if (isDone && limits.length === 0) return warn(`worker '${name}' is not paused (it is completed)`);
  const hasStopped = status === "stopped" || status === "failed";
  // A loop that has recorded its end is about to leave its window.
  if (loop !== undefined && hasStopped) await endLoop(loop, []);
  if (loop === undefined || hasStopped)
    return reopen(worker, [...limits, ...(inhibit === false ? ["--no-inhibit"] : [])]);
  // Its state file could not be read: the loop writes it anew.
  if (status !== "paused") return warn(`worker '${name}' is running`);
  return endWorkerPause(worker, flags);
}

/** In the state file, a worker that waits for a usage limit is running, too. */
function refuseRunning({ name, run }: Worker, flags: ResumeFlags): number {
  const waits = run?.status === "waiting" ? "waits for a usage limit to end" : undefined;
  refuseLimits(name, flags, `the loop of '${name}' ${waits ?? "runs"}`);
  return warn(`worker '${name}' is not paused${waits === undefined ? "" : ` (it ${waits})`}`);
}

function endWorkerPause(worker: Worker, flags: ResumeFlags): number {
  const { maxIterations, ...others }: { maxIterations?: string } & ResumeFlags = flags;
  refuseLimits(worker.name, others, `the loop of '${worker.name}' waits in its window`);
  const raised = maxIterations && limitsFrom({ maxIterations }, DEFAULT_LIMITS).maxIterations;
  continueWorker(worker, raised || undefined);
  return say(`resumed ralph loop for ${worker.name}`);
}

async function reopen(worker: Worker, limits: string[]): Promise<number> {
  const { home, name, state } = worker;
  const { run, ...record } = recordOf(worker);
  const spec = readSpec(runFolder(home, run));
  checkFolder(spec);
  requireTmux();
  const max = state?.max_iterations ?? 0;
  const isGiven = limits.some((word) => word.startsWith("--max-iterations"));
  const kept = max === 0 || isGiven ? [] : [`--max-iterations=${max}`];
  const argv = ["resume", run, ...kept, ...limits];
  const hear = (text: string): void => void process.stderr.write(text);
  const assigned = { ...record, name, argv, cwd: spec.workspace };
  const opened = await openLoop(tmuxAt(home, record.tmux), assigned, { hear });
  if (typeof opened === "number") return opened;
  updateState(worker, () => ({ max_iterations: opened.maxIterations }));
  return say(`resumed ralph loop for ${name}`);
}

const NETS = [
  ...LIMIT_ROWS.map(([, { flag }]) => attributeOf(longName(flag))),
  ...["fallbackAgent", "escalateModel", "keepBackground", "sandbox", "hiddenCheck"],
];

function givenLimits(flags: object): string[] {
  const given = new Map(Object.entries(flags));
  return NETS.flatMap((name) => (given.get(name) === undefined ? [] : flagWords(name, given.get(name))));
}

/** A living loop keeps its limits. */
function refuseLimits(name: string, flags: object, meanwhile: string): void {
  const given = givenLimits(flags);
  const [flag] = given;
  if (flag === undefined) return;
  const words = given.map(quoteWord).join(" ");
  throw failure(
    "flag_invalid",
    `${flag.split("=")[0]} cannot change while ${meanwhile}`,
    `ralph kill ${name} ends it, and ralph resume ${name} ${words} continues it`,
  );
}

/** `ralph pause [LOOP]`: the current agent finishes, then the loop waits for `ralph resume`. */
export async function pause(name: string | undefined): Promise<number> {
  const found = loopMeant(name, "living");
  if (found.worker !== undefined) {
    const { worker } = found;
    if (worker.status === "paused") return warn(`worker '${worker.name}' is already paused`);
    pauseWorker(worker);
    return say(`paused ralph loop for ${worker.name}`);
  }
  const { run } = found;
  loopOf(run);
  if (existsSync(run.pause)) return warn(`run ${run.name()} is already paused`);
  const waits = ["limit.waiting", "backoff.started"].includes(run.lastEvent()?.type ?? "");
  writeFileSync(run.pause, "", { flag: "a", mode: 0o600 });
  const how = waits ? "no agent is running, so the loop pauses now" : "the current agent finishes first";
  return say(`pausing run ${run.name()}: ${how}`);
}
