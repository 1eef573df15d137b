import { randomBytes } from "node:crypto";
import type { FunctionAgent } from "../ask/run-function.js";
import { type RalphError, toRalphError } from "../errors.js";
import type { LoopEvent, Outcome } from "../events.js";
import type { Signals } from "../loop/effects.js";
import { endCutOff } from "../records/cut-off.js";
import { closeToOthers, removeBegun } from "../records/files.js";
import { writableHome } from "../records/home.js";
import { type Journal, openJournal } from "../records/journal.js";
import { acquireLock } from "../records/lock.js";
import { spendingOf } from "../records/payment.js";
import { createRedactor, type Redact, redactDeep } from "../records/redact.js";
import { initialState, type RunState } from "../records/run-state.js";
import { createRunFolder, RUN_VARIABLE, type RunFolder, runFolder } from "../records/runs.js";
import { writeSpec } from "../records/spec.js";
import { exitCodeOf } from "../stop-reasons.js";
import { withoutRepository } from "../workspace/git.js";
import { withVariables } from "./agent-spec.js";
import { assemble } from "./assemble.js";
import type { RunContext } from "./run-context.js";
import type { RunSpec } from "./spec.js";

export interface RecordOptions {
  /** Reads the state of the run to continue; called when nobody else can be writing it. */
  readState?: (folder: RunFolder) => RunState;
  /** Variables for the agent and the checks. */
  env?: Record<string, string>;
  /** Variables for the agent alone. */
  agentEnv: Record<string, string>;
  /** The same for the other agents of the run, by their roles. */
  otherEnv?: Record<string, Record<string, string>> | undefined;
  /** A function in place of a program. */
  agent?: FunctionAgent | undefined;
  /** Limits as they are now, where they can be changed meanwhile. */
  limits?: RunContext["limits"];
  /** A terminal for commands that are no known agent, where there is one. */
  terminal?: RunContext["terminal"];
  /** Where the records are kept, if not in the user's home of ralph. */
  home?: string | undefined;
  signals: Signals;
  /** Called before the first event with where the records are, and a copy of the state for whoever shows the run. */
  onStart?(folder: RunFolder, state: RunState): void;
}

/** A run with its lock and its records: every event is written down before it is told. */
export async function* recordedRun(
  spec: RunSpec,
  options: RecordOptions,
): AsyncGenerator<LoopEvent, Outcome> {
  const home = writableHome(options.home);
  const lock = acquireLock(home, spec, spec.id);
  try {
    const folder = options.readState ? runFolder(home, spec.id) : createRunFolder(home, spec.id);
    const state = options.readState?.(folder) ?? initialState(spec.id);
    const dead = lock.stale && runFolder(home, lock.stale.run).state();
    const cutOff = await endCutOff(dead ? [state, dead] : [state]);
    removeBegun(folder.path);
    // An earlier release may have left it open.
    closeToOthers(folder.path);
    const own = [options.agentEnv, ...Object.values(options.otherEnv ?? {})];
    const env = withVariables(process.env, options.agentEnv, options.otherEnv);
    writeSpec(folder.specFile, spec, env);
    const hookToken = randomBytes(24).toString("base64url");
    const secrets = own.flatMap((variables) => Object.values(variables));
    const redact = createRedactor(env, [...secrets, hookToken]);
    return yield* record({ spec, state, folder, redact, hookToken, cutOff }, options);
  } finally {
    lock.release();
  }
}

interface Recording {
  spec: RunSpec;
  state: RunState;
  folder: RunFolder;
  redact: Redact;
  hookToken: string;
  cutOff: number | undefined;
}

async function* record(
  { spec, state, ...recording }: Recording,
  options: RecordOptions,
): AsyncGenerator<LoopEvent, Outcome> {
  const { folder, redact } = recording;
  const { signals, agent, agentEnv, otherEnv, limits, terminal } = options;
  options.onStart?.(folder, structuredClone(state));
  const journal = openJournal(folder.journal);
  const env = { ...withoutRepository(process.env), ...options.env, [RUN_VARIABLE]: spec.id };
  try {
    return yield* written(
      assemble(spec, state, {
        ...recording,
        signals,
        env,
        agentEnv,
        otherEnv,
        agent,
        terminal,
        ...(limits && { limits }),
      }),
      journal,
      redact,
    );
  } catch (error) {
    const known = toRalphError(error);
    if (known === undefined) throw error;
    // The records cannot be written any more; whoever watches is told all the same.
    const outcome = failure(state, known);
    yield { v: 1, type: "run.finished", ts: new Date().toISOString(), run: state.run, ...outcome };
    return outcome;
  }
}

async function* written(
  events: AsyncGenerator<LoopEvent, Outcome>,
  journal: Journal,
  redact: Redact,
): AsyncGenerator<LoopEvent, Outcome> {
  const disk = syncer(journal);
  try {
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value;
      const { event, line } = withoutSecrets(step.value, redact);
      journal.append(event.type, line);
      if (event.type === "iteration.finished" || event.type === "run.finished") journal.check();
      yield event;
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

function withoutSecrets(event: LoopEvent, redact: Redact): { event: LoopEvent; line: string } {
  const line = JSON.stringify(event);
  if (redact(line) === line) return { event, line };
  const clean = redactDeep(event, redact);
  return { event: clean, line: JSON.stringify(clean) };
}

function failure(state: RunState, error: RalphError): Outcome {
  const { iterations, activeMs } = state;
  return {
    success: false,
    reason: "error",
    exitCode: exitCodeOf("error"),
    iterations,
    ...spendingOf(state),
    durationMs: Math.round(activeMs),
    filesChanged: null,
    worktree: null,
    ...(error.isFinal && { final: true as const }),
    message: error.hint === undefined ? error.message : `${error.message}; ${error.hint}`,
  };
}
