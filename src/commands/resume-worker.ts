import { DEFAULT_LIMITS } from "../defaults.js";
import { RalphError } from "../errors.js";
import { checkPlace } from "../host/place.js";
import { readSpec } from "../host/spec.js";
import { runFolder } from "../state/runs.js";
import { continueWorker } from "../workers/control.js";
import { openLoop } from "../workers/open.js";
import { recordOf } from "../workers/record.js";
import { currentEnvironment } from "../workers/spawn.js";
import { updateState } from "../workers/state-file.js";
import { requireTmux, tmuxAt } from "../workers/tmux.js";
import { type FoundWorker, warn } from "./find-worker.js";
import { flagWords } from "./flag-words.js";
import { limitsFrom, type SafetyNetFlags } from "./flags.js";

/** `ralph resume NAME`: a loop that waits goes on; one that is gone goes on in a new window. */
export async function resumeWorker(
  found: FoundWorker,
  { inhibit, ...flags }: SafetyNetFlags & { inhibit?: boolean },
): Promise<number> {
  const { home, folder, standing } = found;
  const { status, loop } = standing;
  const limits = givenLimits(flags);
  if (status === "running" || (status === "stopped" && limits.length === 0)) return notPaused(found);
  if (loop === undefined) return reopen(found, [...limits, ...(inhibit === false ? ["--no-inhibit"] : [])]);
  if (status === "paused") {
    refuseOthers(folder.name, flags);
    const raised = flags.maxIterations && limitsFrom(flags, DEFAULT_LIMITS).maxIterations;
    continueWorker(home, folder, raised || undefined);
  } else {
    // Its state file could not be read: the loop writes it anew.
    warn(`worker '${folder.name}' is running`);
    return 0;
  }
  return said(folder.name);
}

function notPaused({ folder: { name }, standing: { status, record } }: FoundWorker): number {
  warn(
    `worker '${name}' is not paused${status === "stopped" ? ` (${howEnded(name, record?.ended?.reason)})` : ""}`,
  );
  return 0;
}

function howEnded(name: string, reason: string | undefined): string {
  if (reason === "completed" || reason === "all_checks_passed") return "it is completed";
  return `it is stopped; ralph resume ${name} --max-iterations N goes on with it`;
}

/** A loop that is alive takes a new number of iterations; its other limits are those it was started with. */
function refuseOthers(name: string, { maxIterations: _, ...others }: SafetyNetFlags): void {
  const [flag] = givenLimits(others);
  if (flag === undefined) return;
  throw new RalphError(
    `${flag.split("=")[0]} cannot be changed while the loop of '${name}' waits in its window`,
    {
      code: "flag_invalid",
      hint: `ralph kill ${name} ends it, and ralph resume ${name} ${flag} goes on with it`,
    },
  );
}

async function reopen({ home, folder, standing }: FoundWorker, limits: string[]): Promise<number> {
  const { run, workspace, env: ownEnv, tags, tmux } = recordOf(folder);
  checkPlace(readSpec(runFolder(home, run)));
  requireTmux();
  const max = standing.state?.max_iterations;
  const kept = max === undefined ? [] : [`--max-iterations=${max}`];
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

const NETS: Record<keyof SafetyNetFlags, true> = {
  maxIterations: true,
  maxCost: true,
  maxTokens: true,
  maxTime: true,
  iterationTimeout: true,
  inactivityTimeout: true,
  maxFailures: true,
  stuckAfter: true,
  waitForLimits: true,
  maxLimitWait: true,
  allowOverage: true,
  overage: true,
  fallbackAgent: true,
  escalateModel: true,
  sandbox: true,
};

function givenLimits(flags: SafetyNetFlags): string[] {
  const names = Object.keys(NETS) as (keyof SafetyNetFlags)[];
  return names.flatMap((name) => (flags[name] === undefined ? [] : flagWords(name, flags[name])));
}
