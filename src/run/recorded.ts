import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { elapsed } from "../elapsed.js";
import { RalphError, toRalphError } from "../errors.js";
import type { IterationFinished, LoopEvent, Outcome } from "../events.js";
import { limitReached } from "../loop/run.js";
import { closeToOthers, removeBegun } from "../records/files.js";
import { claimName, writableHome } from "../records/home.js";
import { endCutOff, openJournal, repairJournal } from "../records/journal.js";
import { acquireLock } from "../records/lock.js";
import { redactDeep } from "../records/redact.js";
import { initialState, type RunState, spendingOf } from "../records/run-state.js";
import {
  createRunFolder,
  iterationFolder,
  laneFolder,
  type RunFolder,
  removeHidden,
  runFolder,
} from "../records/runs.js";
import { writeSpec } from "../records/spec.js";
import { exitCodeOf, isSuccess } from "../stop-reasons.js";
import { cleanSettings, withholdPasswords } from "../workspace/credentials.js";
import { repositoryRoot } from "../workspace/git.js";
import { type GitSetting, gitSettings } from "../workspace/git-programs.js";
import { indexState } from "../workspace/index-file.js";
import { copiedInto, openTrees } from "../workspace/trees.js";
import { ownEnvironment, redactorFor, withVariables } from "./agent-spec.js";
import { assemble } from "./assemble.js";
import type { Host, PreparedRun, RunContext, RunSpec } from "./spec.js";

/** A run with its lock and its records: ralph writes every event down before it yields it. */
export async function* recordedRun(prepared: PreparedRun, host: Host): AsyncGenerator<LoopEvent, Outcome> {
  const { spec, isContinued } = prepared;
  const home = writableHome(host.home);
  const lock = acquireLock(home, spec, spec.id);
  const { workspace, worktree = workspace, origin = workspace } = spec;
  const returnPasswords = await withholdPasswords(home, [workspace, worktree, origin], spec.id);
  try {
    const folder = isContinued ? runFolder(home, spec.id) : newRunFolder(home, spec);
    const state = await stateOf(folder, prepared);
    const dead = lock.stale && runFolder(home, lock.stale.run).state();
    const cutOff = await endCutOff(dead ? [state, dead] : [state]);
    const settings = await settingsAndIndex(workspace);
    const context = contextOf(prepared, host, folder, { cutOff, gitSettings: settings });
    host.onStart?.(folder, structuredClone(state));
    const records = openRecords(context, state);
    try {
      const run = await assembled(state, context);
      try {
        for (;;) {
          const step = await run.events.next();
          if (step.done) return step.value;
          for (const told of run.around(step.value)) {
            yield records.write(told);
            if (/^(iteration\.|run\.resumed$)/.test(told.type)) await records.boundary(told);
          }
        }
      } finally {
        await run.close().finally(records.finish);
      }
    } catch (error) {
      // The records cannot be written any more, but the views still get the outcome.
      const outcome = failure(state, error);
      yield { v: 1, type: "run.finished", ts: new Date().toISOString(), run: state.run, ...outcome };
      return outcome;
    } finally {
      records.close();
    }
  } finally {
    await returnPasswords();
    lock.release();
  }
}

/** The run needs the state of the index soon after the settings: git reads both at once. */
async function settingsAndIndex(workspace: string): Promise<GitSetting[]> {
  const root = repositoryRoot(workspace);
  const [settings] = await Promise.all([gitSettings(workspace), root && indexState(root)]);
  return settings;
}

/** Loads the code for lanes only for a run that has some. */
async function assembled(state: RunState, context: RunContext): ReturnType<typeof assemble> {
  if (context.spec.lanes === undefined) return assemble(state, context);
  return (await import("./lanes.js")).assembleLanes(state, context);
}

function newRunFolder(home: string, spec: RunSpec): RunFolder {
  const folder = createRunFolder(home, spec.id);
  spec.name = claimName(home, spec.id, spec.name ?? spec.worker);
  return folder;
}

/** The state from the journal, which nothing else can be writing now. */
async function stateOf(folder: RunFolder, { spec: { limits }, isContinued }: PreparedRun): Promise<RunState> {
  if (!isContinued) return initialState(folder.id);
  const setAside = existsSync(folder.journal) ? repairJournal(folder.journal) : undefined;
  if (setAside !== undefined)
    process.stderr.write(`ralph: warning: the journal had unreadable lines; ralph kept it as ${setAside}\n`);
  const state = folder.state() ?? initialState(folder.id);
  if (state.success) {
    const hint = "start a new one with ralph run";
    throw new RalphError(`run ${folder.name()} is completed`, { code: "run_completed", hint });
  }
  // An iteration that was killed before it ended, or was not verified yet, is finished first.
  const isOpen = state.status !== "finished" || state.answer !== undefined;
  const reason = isOpen || isSuccess(state.stop) ? undefined : limitReached(state, limits);
  if (reason === undefined) return state;
  const { howToResume, resultWithLimit } = await import("../views/summary.js");
  const spent = resultWithLimit(reason, state, limits).replace("stopped: ", "");
  throw new RalphError(`run ${folder.name()} has reached its limit (${reason}): ${spent}`, {
    code: "limit_reached",
    hint: `raise it: ${howToResume(folder.name(), { reason, limits })}`,
  });
}

function contextOf(
  prepared: PreparedRun,
  host: Host,
  folder: RunFolder,
  known: Pick<RunContext, "cutOff" | "gitSettings">,
): RunContext {
  const { spec, variables } = prepared;
  removeBegun(folder.path);
  removeHidden(folder.home, spec.origin ?? spec.workspace);
  // An earlier release may have left it open to others.
  closeToOthers(folder.path);
  writeSpec(folder.specFile, spec, withVariables(process.env, variables));
  const hookToken = randomToken();
  const redact = redactorFor(variables, hookToken);
  const clean = cleanSettings(known.gitSettings, folder.path);
  const env = { ...ownEnvironment(folder, variables), ...clean, ...host.env };
  const folderFor = (iteration: number): string => iterationFolder(folder, iteration);
  return { ...prepared, ...known, host, folder, folderFor, redact, env, hookToken };
}

/** Loading `node:crypto` would take longer than writing the run's first events. */
function randomToken(): string {
  const bytes = Buffer.alloc(24);
  const source = openSync("/dev/urandom", "r");
  readSync(source, bytes);
  closeSync(source);
  return bytes.toString("base64url");
}

const SYNC_EVERY_MS = 50;

/** The journal of a run, for events without secrets. */
function openRecords({ folder, redact, spec }: RunContext, state: Readonly<RunState>) {
  const recordTree = treeRecorder({ folder, spec }, state);
  const journal = openJournal(folder.journal);
  let last = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> = Promise.resolve();
  return {
    /** Returns the event as written. */
    write(event: LoopEvent): LoopEvent {
      const line = JSON.stringify(event);
      const isClean = redact(line) === line;
      const clean = isClean ? event : redactDeep(event, redact);
      journal.append(event.type, isClean ? line : JSON.stringify(clean));
      if (event.type === "iteration.finished" || event.type === "run.finished") journal.check();
      return clean;
    },
    /** Long iterations reach the disk before the next ends; of short ones several are written together. */
    async boundary(event: LoopEvent): Promise<void> {
      await recordTree(event);
      if (event.type !== "iteration.finished" || elapsed() - last < SYNC_EVERY_MS) return;
      await pending;
      last = elapsed();
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

/** The outcome of a run that a known error ended; other errors are thrown. */
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

/** An iteration that is shorter takes less time than reading all files would. */
const LEAST_MS = 25;

type Recorder = (event: LoopEvent) => Promise<void>;

/** Records the files before the first iteration and after each that may have changed some, for `ralph diff`. */
function treeRecorder({ spec, folder }: Pick<RunContext, "spec" | "folder">, state: Readonly<RunState>) {
  const recorders = new Map<string | undefined, Recorder>();
  const loops = {
    "": state,
    ...Object.fromEntries(Object.entries(state.lanes ?? {}).map(([lane, one]) => [lane, one.state])),
  };
  const left = new Map(Object.entries(loops).map(([lane, loop]) => [lane, notRecorded(loop)]));
  const open = (lane: string | undefined): Recorder => {
    if (lane === undefined) return recorderIn(spec.workspace, folder.path, spec.copied ?? [], left.get(""));
    const { path } = laneFolder(folder, lane);
    const { worktree = spec.workspace } = state.lanes?.[lane] ?? {};
    return recorderIn(worktree, path, copiedInto(path) ?? [], left.get(lane));
  };
  return async (event: LoopEvent): Promise<void> => {
    const recorder = recorders.get(event.lane) ?? open(event.lane);
    recorders.set(event.lane, recorder);
    await recorder(event);
  };
}

/** The last iteration of a process that died, which may not have recorded its files any more. */
function notRecorded({ status, iteration, iterations }: RunState): number | undefined {
  return status !== "finished" && iteration?.finished ? iterations : undefined;
}

function recorderIn(workspace: string, path: string, hidden: string[], left: number | undefined): Recorder {
  const trees = openTrees(workspace, path, hidden);
  let owed = left;
  /** The fingerprint of the files that were recorded last, where the loop knows it. */
  let known: string | undefined;
  const mayHaveChanged = ({ tree, stop, durationMs }: IterationFinished): boolean =>
    tree === undefined ? stop !== undefined || durationMs >= LEAST_MS : tree !== known;
  return async (event) => {
    if (owed !== undefined) await trees?.take(owed);
    owed = undefined;
    if (event.type === "iteration.started" && event.iteration === 1 && (await trees?.begin()))
      known = event.tree;
    if (event.type !== "iteration.finished") return;
    if (mayHaveChanged(event)) await trees?.take(event.iteration);
    known = event.tree;
  };
}
