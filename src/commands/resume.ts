import { existsSync, rmSync } from "node:fs";
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
import { continueWorker } from "../workers/control.js";
import { openLoop } from "../workers/open.js";
import { currentEnvironment } from "../workers/spawn.js";
import { updateState } from "../workers/state-file.js";
import { requireTmux, tmuxAt } from "../workers/tmux.js";
import { recordOf, type Worker } from "../workers/worker.js";
import { currentRun, runOf, warn, workerOrRun } from "./find.js";
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
  if (!isPaused) {
    warn(`run ${folder.id} is ${now}${isWaiting ? "," : ""} and not paused`);
    return 0;
  }
  rmSync(folder.pause, { force: true });
  process.stdout.write(`resumed run ${folder.id}\n`);
  return 0;
}

const WAITING = "waiting for a usage limit to end";

/** A worker's loop that waits goes on; one that is gone goes on in a new window. */
async function resumeWorker(worker: Worker, { inhibit, ...flags }: ResumeFlags): Promise<number> {
  const { name, status, loop } = worker;
  const limits = givenLimits(flags);
  if (status === "running") {
    const waits = isWaiting(worker) ? "waits for a usage limit to end" : undefined;
    refuseLimits(name, flags, `the loop of '${name}' ${waits ?? "runs"}`);
    return notPaused(name, waits && `it ${waits}`);
  }
  const isDone = status === "stopped" && isSuccess(worker.record?.ended?.reason);
  if (isDone && limits.length === 0) return notPaused(name, "it is completed");
  if (loop === undefined) return reopen(worker, [...limits, ...(inhibit === false ? ["--no-inhibit"] : [])]);
  if (status !== "paused") {
    // Its state file could not be read: the loop writes it anew.
    warn(`worker '${name}' is running`);
    return 0;
  }
  const { maxIterations, ...others }: { maxIterations?: string } & ResumeFlags = flags;
  refuseLimits(name, others, `the loop of '${name}' waits in its window`);
  const raised = maxIterations && limitsFrom({ maxIterations }, DEFAULT_LIMITS).maxIterations;
  continueWorker(worker, raised || undefined);
  return said(name);
}

function notPaused(name: string, why: string | undefined): number {
  warn(`worker '${name}' is not paused${why === undefined ? "" : ` (${why})`}`);
  return 0;
}

/** Its state file calls it running. */
function isWaiting({ home, status, record }: Worker): boolean {
  if (status !== "running" || record === undefined) return false;
  return runFolder(home, record.run).state()?.status === "waiting";
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
  return said(name);
}

function said(name: string): number {
  process.stdout.write(`resumed ralph loop for ${name}\n`);
  return 0;
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
