import { randomBytes } from "node:crypto";
import { toRalphError } from "../errors.js";
import type { LoopEvent, Outcome } from "../events.js";
import { endCutOff } from "../records/cut-off.js";
import { closeToOthers, removeBegun } from "../records/files.js";
import { writableHome } from "../records/home.js";
import { openJournal } from "../records/journal.js";
import { acquireLock } from "../records/lock.js";
import { createRedactor, redactDeep } from "../records/redact.js";
import { initialState, type RunState, spendingOf } from "../records/run-state.js";
import {
  createRunFolder,
  iterationFolder,
  RUN_VARIABLE,
  type RunFolder,
  runFolder,
} from "../records/runs.js";
import { writeSpec } from "../records/spec.js";
import { exitCodeOf } from "../stop-reasons.js";
import { withoutRepository } from "../workspace/git.js";
import { withVariables } from "./agent-spec.js";
import { assemble } from "./assemble.js";
import type { Host, PreparedRun, RunContext } from "./context.js";

/** A run with its lock and its records: every event is written down before it is told. */
export async function* recordedRun(prepared: PreparedRun, host: Host): AsyncGenerator<LoopEvent, Outcome> {
  const { spec } = prepared;
  const home = writableHome(host.home);
  const lock = acquireLock(home, spec, spec.id);
  try {
    const { folder, state } = await begin(prepared, home);
    const dead = lock.stale && runFolder(home, lock.stale.run).state();
    const cutOff = await endCutOff(dead ? [state, dead] : [state]);
    const context = contextOf(prepared, host, folder, cutOff);
    host.onStart?.(folder, structuredClone(state));
    const records = openRecords(context);
    try {
      const run = await assemble(state, context);
      try {
        for (;;) {
          const step = await run.events.next();
          if (step.done) return step.value;
          for (const told of run.around(step.value)) {
            yield records.write(told);
            if (told.type === "iteration.finished") await records.boundary();
          }
        }
      } finally {
        await run.close().finally(records.finish);
      }
    } catch (error) {
      // The records cannot be written any more; whoever watches is told all the same.
      const outcome = failure(state, error);
      yield { v: 1, type: "run.finished", ts: new Date().toISOString(), run: state.run, ...outcome };
      return outcome;
    } finally {
      records.close();
    }
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

function contextOf(
  prepared: PreparedRun,
  host: Host,
  folder: RunFolder,
  cutOff: number | undefined,
): RunContext {
  const { spec, variables } = prepared;
  removeBegun(folder.path);
  // An earlier release may have left it open.
  closeToOthers(folder.path);
  const visible = withVariables(process.env, variables);
  writeSpec(folder.specFile, spec, visible);
  const hookToken = randomBytes(24).toString("base64url");
  const secrets = Object.values(variables).flatMap((own) => Object.values(own));
  const redact = createRedactor(visible, [...secrets, hookToken]);
  const env = { ...withoutRepository(process.env), ...host.env, [RUN_VARIABLE]: spec.id };
  const folderFor = (iteration: number): string => iterationFolder(folder, iteration);
  return { ...prepared, host, folder, folderFor, redact, env, hookToken, cutOff };
}

const SYNC_EVERY_MS = 50;

/** The journal of a run, for events without secrets. */
function openRecords({ folder, redact }: RunContext) {
  const journal = openJournal(folder.journal);
  let last = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> = Promise.resolve();
  return {
    /** Returns the event as it was written. */
    write(event: LoopEvent): LoopEvent {
      const line = JSON.stringify(event);
      const isClean = redact(line) === line;
      const clean = isClean ? event : redactDeep(event, redact);
      journal.append(event.type, isClean ? line : JSON.stringify(clean));
      if (event.type === "iteration.finished" || event.type === "run.finished") journal.check();
      return clean;
    },
    /**
     * Iterations that last are on the disk before the next one ends; the disk works while its agent starts. Of
     * iterations that take no time, several are written together.
     */
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
    close: journal.close,
  };
}

/** The outcome of a run that a known error ended; others are thrown on. */
function failure(state: RunState, error: unknown): Outcome {
  const known = toRalphError(error);
  if (known === undefined) throw error;
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
    ...(known.isFinal && { final: true as const }),
    message: known.hint === undefined ? known.message : `${known.message}; ${known.hint}`,
  };
}
