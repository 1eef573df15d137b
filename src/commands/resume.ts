import { existsSync, rmSync, writeFileSync } from "node:fs";
import { RalphError } from "../errors.js";
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
import { assignment } from "../workers/assignment.js";
import { continueWorker, pauseWorker } from "../workers/control.js";
import { openLoop } from "../workers/open.js";
import { currentEnvironment } from "../workers/spawn.js";
import { updateState } from "../workers/state-file.js";
import { requireTmux, tmuxAt } from "../workers/tmux.js";
import { recordOf, type Worker } from "../workers/worker.js";
import { currentRun, loopOf, runOf, say, warn, workerOrRun } from "./find.js";
import { continueRun, type ResumeFlags } from "./start-run.js";

/**
 * `ralph resume [LOOP]`: goes on with a run or a worker that was paused, stopped, interrupted or killed. `recipe`
 * takes the place of its own one.
 */
export async function resume(
  name: string | undefined,
  flags: ResumeFlags,
  recipe?: RecipeSpec,
): Promise<number> {
  const found = workerOrRun(name ?? currentRun().id);
  if (found.worker !== undefined && assignment() === undefined) return resumeWorker(found.worker, flags);
  const folder = runOf(found);
  checkFolder(readSpec(folder));
  return folder.loop() !== undefined ? endPause(folder, flags) : continueRun(folder, flags, recipe);
}

/** The loop is alive: it goes on where it is, as it was started. */
function endPause(folder: RunFolder, flags: ResumeFlags): number {
  const isPaused = existsSync(folder.pause);
  const isWaiting = !isPaused && folder.state()?.status === "waiting";
  const now = isPaused ? "paused" : isWaiting ? WAITING : "running";
  refuseLimits(folder.id, flags, `run ${folder.id} is ${now}`);
  if (!isPaused) return warn(`run ${folder.id} is ${now}${isWaiting ? "," : ""} and not paused`);
  rmSync(folder.pause, { force: true });
  return say(`resumed run ${folder.id}`);
}

const WAITING = "waiting for a usage limit to end";
const WAITS = "waits for a usage limit to end";

/** A worker's loop that waits goes on; one that is gone goes on in a new window. */
async function resumeWorker(worker: Worker, { inhibit, ...flags }: ResumeFlags): Promise<number> {
  const { name, status, loop } = worker;
  const limits = givenLimits(flags);
  if (status === "running") {
    const run = worker.record && runFolder(worker.home, worker.record.run);
    // Its state file calls it running.
    const isWaiting = run?.state()?.status === "waiting";
    const [does, why] = isWaiting ? [WAITS, ` (it ${WAITS})`] : ["runs", ""];
    refuseLimits(name, flags, `the loop of '${name}' ${does}`);
    return warn(`worker '${name}' is not paused${why}`);
  }
  const isDone = status === "stopped" && isSuccess(worker.record?.ended?.reason);
  if (isDone && limits.length === 0) return warn(`worker '${name}' is not paused (it is completed)`);
  if (loop === undefined) return reopen(worker, [...limits, ...(inhibit === false ? ["--no-inhibit"] : [])]);
  // Its state file could not be read: the loop writes it anew.
  if (status !== "paused") return warn(`worker '${name}' is running`);
  const { maxIterations, ...others }: { maxIterations?: string } & ResumeFlags = flags;
  refuseLimits(name, others, `the loop of '${name}' waits in its window`);
  const raised = maxIterations && limitsFrom({ maxIterations }, DEFAULT_LIMITS).maxIterations;
  continueWorker(worker, raised || undefined);
  return say(`resumed ralph loop for ${name}`);
}

async function reopen(worker: Worker, limits: string[]): Promise<number> {
  const { home, name, state } = worker;
  const { run, workspace, env: ownEnv, tags, tmux } = recordOf(worker);
  checkFolder(readSpec(runFolder(home, run)));
  requireTmux();
  const max = state?.max_iterations ?? 0;
  const isGiven = limits.some((word) => word.startsWith("--max-iterations"));
  const kept = max === 0 || isGiven ? [] : [`--max-iterations=${max}`];
  const argv = ["resume", run, ...kept, ...limits];
  const env = { ...currentEnvironment(), ...ownEnv };
  const hear = (text: string): void => void process.stderr.write(text);
  const assigned = { name, argv, cwd: workspace, env, ownEnv, tags, tmux };
  const opened = await openLoop(tmuxAt(home, tmux), assigned, { hear });
  if (typeof opened === "number") return opened;
  updateState(worker, () => ({ max_iterations: opened.maxIterations }));
  return say(`resumed ralph loop for ${name}`);
}

const NETS = [
  ...LIMIT_ROWS.map(([, { flag }]) => attributeOf(longName(flag))),
  ...["overage", "fallbackAgent", "escalateModel", "keepBackground", "sandbox"],
];

/** The limits of a command line, as its words. */
function givenLimits(flags: object): string[] {
  const given = new Map(Object.entries(flags));
  return NETS.flatMap((name) => (given.get(name) === undefined ? [] : flagWords(name, given.get(name))));
}

/** A loop that lives keeps the limits that it was started with. */
function refuseLimits(name: string, flags: object, meanwhile: string): void {
  const given = givenLimits(flags);
  const [flag] = given;
  if (flag === undefined) return;
  throw new RalphError(`${flag.split("=")[0]} cannot be changed while ${meanwhile}`, {
    code: "flag_invalid",
    hint: `ralph kill ${name} ends it, and ralph resume ${name} ${given.map(quoteWord).join(" ")} goes on with it`,
  });
}

/** `ralph pause [NAME]`: the agent at work finishes, then the loop waits until it is resumed. */
export async function pause(name: string | undefined): Promise<number> {
  const found = workerOrRun(name ?? currentRun().id);
  if (found.worker === undefined) return pauseRun(found.run);
  const { worker } = found;
  if (worker.status === "paused") {
    return warn(`worker '${worker.name}' is already paused`);
  }
  pauseWorker(worker);
  return say(`paused ralph loop for ${worker.name}`);
}

/** After these, no agent is at work. */
const NOT_AT_WORK: string[] = ["limit.waiting", "backoff.started"];
const NOBODY = "no agent is at work, it waits no longer";

function pauseRun(folder: RunFolder): number {
  loopOf(folder);
  if (existsSync(folder.pause)) {
    return warn(`run ${folder.id} is already paused`);
  }
  const waits = NOT_AT_WORK.includes(folder.lastEvent()?.type ?? "");
  writeFileSync(folder.pause, "", { flag: "a", mode: 0o600 });
  return say(`pausing run ${folder.id}: ${waits ? NOBODY : "the agent at work finishes first"}`);
}
