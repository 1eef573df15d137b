import { runFolder } from "../records/runs.js";
import { checkPlace } from "../run/place.js";
import { readSpec } from "../run/spec.js";
import { DEFAULT_LIMITS, limitsFrom } from "../settings/limits.js";
import { isSuccess } from "../stop-reasons.js";
import { continueWorker } from "../workers/control.js";
import { openLoop } from "../workers/open.js";
import { recordOf } from "../workers/record.js";
import { currentEnvironment } from "../workers/spawn.js";
import { updateState } from "../workers/state-file.js";
import { requireTmux, tmuxAt } from "../workers/tmux.js";
import { type FoundWorker, warn } from "./find-worker.js";
import type { SafetyNetFlags } from "./flags.js";
import { givenLimits, refuseLimits } from "./given-limits.js";

/** `ralph resume NAME`: a loop that waits goes on; one that is gone goes on in a new window. */
export async function resumeWorker(
  found: FoundWorker,
  { inhibit, ...flags }: SafetyNetFlags & { inhibit?: boolean },
): Promise<number> {
  const { home, folder, standing } = found;
  const { status, loop } = standing;
  const limits = givenLimits(flags);
  if (status === "running")
    refuseLimits(folder.name, flags, `the loop of '${folder.name}' ${isWaiting(found) ? WAITS : "runs"}`);
  const isDone = status === "stopped" && isSuccess(standing.record?.ended?.reason);
  if (status === "running" || (isDone && limits.length === 0)) return notPaused(found);
  if (loop === undefined) return reopen(found, [...limits, ...(inhibit === false ? ["--no-inhibit"] : [])]);
  if (status === "paused") {
    const { maxIterations: _, ...others } = flags;
    refuseLimits(folder.name, others, `the loop of '${folder.name}' waits in its window`);
    const raised = flags.maxIterations && limitsFrom(flags, DEFAULT_LIMITS).maxIterations;
    continueWorker(home, folder, raised || undefined);
  } else {
    // Its state file could not be read: the loop writes it anew.
    warn(`worker '${folder.name}' is running`);
    return 0;
  }
  return said(folder.name);
}

const WAITS = "waits for a usage limit to end";

/** Its state file calls it running. */
function isWaiting({ home, standing: { status, record } }: FoundWorker): boolean {
  if (status !== "running" || record === undefined) return false;
  return runFolder(home, record.run).state()?.status === "waiting";
}

function notPaused(found: FoundWorker): number {
  const { folder, standing } = found;
  const isDone = standing.status === "stopped" && "it is completed";
  const why = isDone || (isWaiting(found) && `it ${WAITS}`);
  warn(`worker '${folder.name}' is not paused${why ? ` (${why})` : ""}`);
  return 0;
}

async function reopen({ home, folder, standing }: FoundWorker, limits: string[]): Promise<number> {
  const { run, workspace, env: ownEnv, tags, tmux } = recordOf(folder);
  checkPlace(readSpec(runFolder(home, run)));
  requireTmux();
  const max = standing.state?.max_iterations ?? 0;
  const isGiven = limits.some((word) => word.startsWith("--max-iterations"));
  const kept = max === 0 || isGiven ? [] : [`--max-iterations=${max}`];
  const opened = await openLoop(
    tmuxAt(home, tmux),
    {
      name: folder.name,
      argv: ["resume", run, ...kept, ...limits],
      cwd: workspace,
      env: { ...currentEnvironment(), ...ownEnv },
      ownEnv,
      tags,
      tmux,
    },
    { hear: (text) => void process.stderr.write(text) },
  );
  if (typeof opened === "number") return opened;
  updateState(folder, () => ({ max_iterations: opened.maxIterations }));
  return said(folder.name);
}

function said(name: string): number {
  process.stdout.write(`resumed ralph loop for ${name}\n`);
  return 0;
}
