import { type RalphError, toRalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { exitCodeOf } from "../loop/outcome.js";
import { killTree } from "../process/kill.js";
import { writableHome } from "../state/home.js";
import { type Journal, openJournal } from "../state/journal.js";
import { acquireLock } from "../state/lock.js";
import { createRedactor, type Redact, redactDeep } from "../state/redact.js";
import { initialState, type RunState } from "../state/run-state.js";
import { createRunFolder, type RunFolder, runFolder } from "../state/runs.js";
import type { View } from "../views/view.js";
import { runLoop } from "./run-loop.js";
import { handleSignals } from "./signals.js";
import { type RunSpec, writeSpec } from "./spec.js";

export interface HostOptions {
  /** Reads the state of the run to continue; called when nobody else can be writing it. */
  readState?: (folder: RunFolder) => RunState;
  agentEnv: Record<string, string>;
  /** Where the records are kept, if not in the user's home of ralph. */
  home?: string;
  /** Told where the records are. */
  view(folder: RunFolder): View;
}

const ORPHAN_GRACE_MS = 2000;

/** Runs a loop in this process: lock, records, signals and the view around it. Returns the exit code. */
export async function hostRun(spec: RunSpec, options: HostOptions): Promise<number> {
  const home = writableHome(options.home);
  const lock = acquireLock(home, spec.workspace, spec.id);
  try {
    const folder = options.readState ? runFolder(home, spec.id) : createRunFolder(home, spec.id);
    const state = options.readState?.(folder) ?? initialState(spec.id);
    await endOrphans([lock.stale?.run, spec.id]);
    const env = { ...process.env, ...options.agentEnv };
    const redact = createRedactor(env);
    writeSpec(folder, spec, env);
    return await record(spec, state, folder, redact, options);
  } finally {
    lock.release();
  }
}

/** Agents that outlived a ralph that was killed. */
async function endOrphans(runs: (string | undefined)[]): Promise<void> {
  for (const run of new Set(runs)) {
    if (run) await killTree({ marker: `${RUN_VARIABLE}=${run}` }, ORPHAN_GRACE_MS);
  }
}

async function record(
  spec: RunSpec,
  state: RunState,
  folder: RunFolder,
  redact: Redact,
  options: HostOptions,
): Promise<number> {
  const view = options.view(folder);
  const journal = openJournal(folder.journal);
  const handler = handleSignals(() => {
    view.note("Received signal, shutting down...");
    view.note("What is at work may finish; a second signal ends it now.");
  });
  const events = runLoop(spec, state, {
    folder,
    redact,
    signals: handler.signals,
    env: { ...process.env, [RUN_VARIABLE]: spec.id },
    agentEnv: options.agentEnv,
  });
  try {
    return await follow(events, journal, view, redact, handler.signals.kill);
  } catch (error) {
    const known = toRalphError(error);
    if (known === undefined) throw error;
    // The records cannot be written any more; whoever watches is told all the same.
    await view.event(failure(state, known));
    return exitCodeOf("error");
  } finally {
    handler.release();
    view.close();
  }
}

async function follow(
  events: ReturnType<typeof runLoop>,
  journal: Journal,
  view: View,
  redact: Redact,
  kill: AbortSignal,
): Promise<number> {
  const killed = new Promise<void>((resolve) =>
    kill.addEventListener("abort", () => resolve(), { once: true }),
  );
  const disk = syncer(journal);
  try {
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value.exitCode;
      const { event, line } = withoutSecrets(step.value, redact);
      journal.append(event.type, line);
      const shown = view.event(event);
      if (shown !== undefined) await Promise.race([shown, killed]);
      if (event.type === "iteration.finished") await disk.boundary();
    }
  } finally {
    await events.return(undefined as never);
    await disk.finish().finally(() => journal.close());
  }
}

const SYNC_EVERY_MS = 50;

/**
 * Iterations that last are on the disk before the next one ends; the disk works while its agent starts. Of
 * iterations that take no time, several are written together.
 */
function syncer(journal: Journal) {
  let last = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> = Promise.resolve();
  return {
    async boundary(): Promise<void> {
      if (performance.now() - last < SYNC_EVERY_MS) return;
      await pending;
      last = performance.now();
      pending = journal.sync();
      pending.catch(() => {});
    },
    async finish(): Promise<void> {
      await pending;
      await journal.sync();
    },
  };
}

/** Marks everything a run starts, so that what outlived a crash of ralph is found on resume. */
const RUN_VARIABLE = "RALPH_RUN";

function withoutSecrets(event: LoopEvent, redact: Redact): { event: LoopEvent; line: string } {
  const line = JSON.stringify(event);
  if (redact(line) === line) return { event, line };
  const clean = redactDeep(event, redact);
  return { event: clean, line: JSON.stringify(clean) };
}

function failure(state: RunState, error: RalphError): LoopEvent {
  const { run, iterations, costUsd, inputTokens, outputTokens, activeMs } = state;
  return {
    v: 1,
    type: "run.finished",
    ts: new Date().toISOString(),
    run,
    success: false,
    reason: "error",
    exitCode: exitCodeOf("error"),
    iterations,
    costUsd,
    inputTokens,
    outputTokens,
    durationMs: Math.round(activeMs),
    filesChanged: null,
    worktree: null,
    message: error.hint === undefined ? error.message : `${error.message}; ${error.hint}`,
  };
}
