import type { RunState } from "../records/run-state.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { hasAnswer } from "../records/words.js";
import { harmlessLine } from "../views/harmless.js";
import { howToResume } from "../views/summary.js";
import { localTime } from "../workers/files.js";
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

/** A line for each of them that is known. */
function facts(known: Record<string, string | number | null | undefined>): string[] {
  return Object.entries(known).flatMap(([name, fact]) => (fact == null ? [] : [`${name}: ${fact}`]));
}

function ofWorker(worker: Worker) {
  const { home, name, state, record } = worker;
  const row = workerRow(worker);
  const { status: current, reason } = row;
  const run = record && runFolder(home, record.run);
  const answered = run !== undefined && hasAnswer(run);
  const json = { ...state, ...row, ended: record?.ended, answered };
  if (state === undefined) {
    const unknown = { "Ralph Loop": name, Status: "unknown (its state file cannot be read)" };
    return { current, json, lines: facts(unknown) };
  }
  const shown = (time: string | null) => time?.replace("T", " ").replace(/\.\d+$/, "");
  const { message } = record?.ended ?? {};
  const isCrashed = current === "crashed";
  const hasEnded = reason !== null && !isCrashed && !AT_WORK.includes(current);
  const lines = [
    ...facts({
      "Ralph Loop": name,
      Status: current,
      Iteration: `${state.current_iteration}/${state.max_iterations}`,
      Started: shown(state.started),
      "Current iteration started": shown(state.last_iteration_started),
      "Consecutive failures": state.consecutive_failures,
      "Total failures": state.total_failures,
      "Inactivity timeout": `${state.inactivity_timeout}s`,
      "Done pattern": state.done_pattern,
    }),
    ...waitOf(current, run?.state()),
    ...facts({
      Next: isCrashed ? `its loop is gone; ralph resume ${name} goes on with it` : null,
      Reason: hasEnded ? `${reason}${message === undefined ? "" : ` (${message})`}` : null,
    }),
    ...questionOf(name, record?.ended, answered),
  ];
  return { current, json, lines };
}

function ofRun(run: RunFolder) {
  const spec = run.shown();
  const state = run.state();
  const current = run.status(state?.status);
  const answered = hasAnswer(run);
  const { reason = null, iterations = 0, costUsd = null, question = null } = state ?? {};
  const lines = [
    ...facts({
      "Ralph Loop": run.id,
      Status: current,
      // The one at work, as `ralph ls` counts.
      Iteration: `${iterations + (AT_WORK.includes(current) ? 1 : 0)}/${spec.limits.maxIterations}`,
      Started: localTime(new Date(spec.createdAt)).replace("T", " "),
      "Consecutive failures": state?.consecutiveFailures ?? 0,
    }),
    ...waitOf(current, state),
    ...facts({ Reason: reason }),
    ...questionOf(run.id, state, answered),
  ];
  const standing = { status: current, reason, iterations, costUsd, question, answered };
  return { current, lines, json: { kind: "run", name: run.id, ...standing } };
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
