import type { RunState } from "../records/run-state.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { hasAnswer } from "../records/words.js";
import { harmlessLine } from "../views/harmless.js";
import { howToResume } from "../views/summary.js";
import { localTime } from "../workers/files.js";
import type { WorkerState } from "../workers/state-file.js";
import { type Worker, workerRow } from "../workers/worker.js";
import { workerOrRun } from "./find.js";
import { printAs } from "./output.js";

/** Exit 0 while it is one of these. */
const AT_WORK = ["running", "paused", "waiting"];

/** `ralph status NAME`: exit 0 while it runs or is paused, 1 when it has ended, 2 when nobody knows. */
export async function status(name: string, flags: { json?: boolean }): Promise<number> {
  const found = workerOrRun(name);
  const { lines, json, current } = found.worker === undefined ? ofRun(found.run) : ofWorker(found.worker);
  await printAs(flags, json, () => lines.map(harmlessLine));
  if (current === "unknown") return 2;
  return AT_WORK.includes(current) ? 0 : 1;
}

interface StatusText {
  lines: string[];
  json: unknown;
  current: string;
}

function ofWorker(worker: Worker): StatusText {
  const { home, name, state, record } = worker;
  const row = workerRow(worker);
  const current = row.status;
  const run = record && runFolder(home, record.run);
  const isAnswered = run !== undefined && hasAnswer(run);
  const json = { ...state, ...row, ended: record?.ended, answered: isAnswered };
  if (state === undefined)
    return {
      current,
      json,
      lines: [`Ralph Loop: ${name}`, "Status: unknown (its state file cannot be read)"],
    };
  const lines = [
    `Ralph Loop: ${name}`,
    `Status: ${current}`,
    `Iteration: ${state.current_iteration}/${state.max_iterations}`,
    ...timesOf(state),
    `Consecutive failures: ${state.consecutive_failures}`,
    `Total failures: ${state.total_failures}`,
    `Inactivity timeout: ${state.inactivity_timeout}s`,
    ...(state.done_pattern === null ? [] : [`Done pattern: ${state.done_pattern}`]),
    ...waitOf(current, run?.state()),
    ...endOf(current, name, row.reason, record?.ended?.message),
    ...questionOf(name, record?.ended, isAnswered),
  ];
  return { current, json, lines };
}

function timesOf({ started, last_iteration_started: last }: WorkerState): string[] {
  const shown = (time: string): string => time.replace("T", " ").replace(/\.\d+$/, "");
  return [
    `Started: ${shown(started)}`,
    ...(last === null ? [] : [`Current iteration started: ${shown(last)}`]),
  ];
}

function endOf(current: string, name: string, reason: string | null, message: string | undefined): string[] {
  if (current === "crashed") return [`Next: its loop is gone; ralph resume ${name} goes on with it`];
  if (reason === null || AT_WORK.includes(current)) return [];
  return [`Reason: ${reason}${message === undefined ? "" : ` (${message})`}`];
}

function ofRun(run: RunFolder): StatusText {
  const spec = run.shown();
  const state = run.state();
  const current = run.status(state?.status);
  const isAnswered = hasAnswer(run);
  const lines = [
    `Ralph Loop: ${run.id}`,
    `Status: ${current}`,
    `Iteration: ${iterationNow(current, state)}/${spec.limits.maxIterations}`,
    `Started: ${localTime(new Date(spec.createdAt)).replace("T", " ")}`,
    `Consecutive failures: ${state?.consecutiveFailures ?? 0}`,
    ...waitOf(current, state),
    ...(state?.reason === undefined ? [] : [`Reason: ${state.reason}`]),
    ...questionOf(run.id, state, isAnswered),
  ];
  const { reason = null, iterations = 0, costUsd = null, question = null } = state ?? {};
  const standing = { status: current, reason, iterations, costUsd, question, answered: isAnswered };
  return { current, lines, json: { kind: "run", name: run.id, ...standing } };
}

/** The one at work, as `ralph ls` counts. */
function iterationNow(current: string, state: RunState | undefined): number {
  const finished = state?.iterations ?? 0;
  return AT_WORK.includes(current) ? finished + 1 : finished;
}

function waitOf(current: string, state: RunState | undefined): string[] {
  if (current !== "waiting" || state === undefined) return [];
  return Object.values(state.limited).map(({ until, message }) => `Waiting until: ${until} (${message})`);
}

type Asking = Partial<Pick<RunState, "question" | "limit">>;

function questionOf(name: string, ended: Asking | undefined, isAnswered: boolean): string[] {
  if (ended?.question === undefined) return [];
  const { question, limit } = ended;
  const next = isAnswered
    ? `Answered: ${howToResume(name, { limit })} goes on with it`
    : `Answer with: ralph answer ${name} "TEXT"`;
  return [`Question: ${harmlessLine(question.text)}`, next];
}
