import { randomBytes } from "node:crypto";
import { type RalphError, toRalphError } from "../errors.js";
import type { LoopEvent, Outcome } from "../events.js";
import { endCutOff } from "../records/cut-off.js";
import { closeToOthers, removeBegun } from "../records/files.js";
import { writableHome } from "../records/home.js";
import { type Journal, openJournal } from "../records/journal.js";
import { acquireLock } from "../records/lock.js";
import { createRedactor, type Redact, redactDeep } from "../records/redact.js";
import { initialState, type RunState, spendingOf } from "../records/run-state.js";
import { createRunFolder, RUN_VARIABLE, type RunFolder, runFolder } from "../records/runs.js";
import { writeSpec } from "../records/spec.js";
import { exitCodeOf } from "../stop-reasons.js";
import { withoutRepository } from "../workspace/git.js";
import { withVariables } from "./agent-spec.js";
import { assemble } from "./assemble.js";
import type { Host, PreparedRun, RunContext } from "./context.js";

/** A run with its lock and its records: every event is written down before it is told. */
export async function* recordedRun(prepared: PreparedRun, host: Host): AsyncGenerator<LoopEvent, Outcome> {
  const { spec, variables } = prepared;
  const home = writableHome(host.home);
  const lock = acquireLock(home, spec, spec.id);
  try {
    const { folder, state } = await begin(prepared, home);
    const dead = lock.stale && runFolder(home, lock.stale.run).state();
    const cutOff = await endCutOff(dead ? [state, dead] : [state]);
    removeBegun(folder.path);
    // An earlier release may have left it open.
    closeToOthers(folder.path);
    const visible = withVariables(process.env, variables);
    writeSpec(folder.specFile, spec, visible);
    const hookToken = randomBytes(24).toString("base64url");
    const secrets = [variables.own, ...Object.values(variables.others)].flatMap((own) => Object.values(own));
    const redact = createRedactor(visible, [...secrets, hookToken]);
    const env = { ...withoutRepository(process.env), ...host.env, [RUN_VARIABLE]: spec.id };
    return yield* record(state, { ...prepared, host, folder, redact, env, hookToken, cutOff });
  } finally {
    lock.release();
  }
}

async function begin(
  { spec, isContinued }: PreparedRun,
  home: string,
): Promise<{ folder: RunFolder; state: RunState }> {
  if (!isContinued) return { folder: createRunFolder(home, spec.id), state: initialState(spec.id) };
  const { stateToContinue } = await import("./resume.js");
  const folder = runFolder(home, spec.id);
  return { folder, state: stateToContinue(folder, spec.limits) };
}

async function* record(state: RunState, context: RunContext): AsyncGenerator<LoopEvent, Outcome> {
  const { host, folder, redact } = context;
  host.onStart?.(folder, structuredClone(state));
  const journal = openJournal(folder.journal);
  try {
    return yield* written(assemble(state, context), journal, redact);
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
