import { basename } from "node:path";
import { formatDuration } from "../duration.js";
import { ralphHome } from "../records/home.js";
import { groupOf, RESULTS, resultFilter, resultOf } from "../records/result.js";
import { limitsOfAll, type RunState } from "../records/run-state.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { hasAnswer } from "../records/words.js";
import { invalid } from "../settings/limits.js";
import { costCell } from "../views/figures.js";
import { harmlessJson, harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/layout.js";
import { howToResume } from "../views/summary.js";
import { localTime } from "../workers/files.js";
import { endOf, type LoopRow, loopRows, type Worker, workerRow } from "../workers/worker.js";
import { loopMeant } from "./find.js";
import { printAll, printAs, warn } from "./output.js";

const FORMATS: Record<string, (rows: LoopRow[]) => string> = {
  table: loopTable,
  json(rows) {
    const metadataOf = ({ kind, iteration }: LoopRow) => ({
      metadata: { ralph: kind === "worker", ralph_iteration: iteration },
    });
    const all = rows.map((row) => ({ ...row, ...metadataOf(row) }));
    return `${harmlessJson(all, 2)}\n`;
  },
  names: (rows) => rows.map(({ name }) => `${name}\n`).join(""),
};

/** `ralph ls`: the workers, the active runs, and those that ended within a day. */
export async function ls(flags: { format?: string; status?: string; tag?: string }): Promise<number> {
  const { format = "table", status: wanted, tag } = flags;
  const render = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (render === undefined) throw invalid("--format", format, Object.keys(FORMATS).join(", "));
  const isWanted = statusFilter(wanted);
  const most = wanted === undefined ? undefined : Number.POSITIVE_INFINITY;
  const all = loopRows(ralphHome(), warn, most);
  const rows = all.filter(
    ({ result, tags }) => isWanted(result) && (tag === undefined || tags.includes(tag)),
  );
  if (rows.length === 0 && all.length > 0 && format === "table")
    return printAll("No worker and no run of today matches. ralph runs lists all runs.\n");
  return printAll(render(rows));
}

export function statusFilter(wanted: string | undefined): (result: string) => boolean {
  if (wanted === undefined) return () => true;
  const filter = resultFilter(wanted);
  if (filter === undefined) throw invalid("--status", wanted, [...new Set(RESULTS.map(groupOf))].join(", "));
  return filter;
}

function loopTable(rows: LoopRow[]): string {
  if (rows.length === 0)
    return "No workers, and no runs today. Start one with: ralph spawn --name NAME … (ralph runs lists all runs)\n";
  const cells = rows.map((row) => [
    ...[row.name, row.result, `${row.iteration}/${row.maxIterations}`, formatDuration(row.activeMs)],
    ...[costCell(row.costUsd), basename(row.workspace), row.lastLine],
  ]);
  const head = ["NAME", "STATUS", "ITER", "TIME", "COST", "FOLDER", "LAST LINE"];
  return `${tableLines([head, ...cells], { width: process.stdout.columns, right: [2, 3, 4] }).join("\n")}\n`;
}

/** Exit 0 while it is one of these. */
const AT_WORK = ["running", "paused", "waiting"];

/** `ralph status [LOOP]`: exit 0 while it runs or is paused, 1 when it has ended, 2 when its state is unknown. */
export async function status(name: string | undefined, flags: { json?: boolean }): Promise<number> {
  const found = loopMeant(name, "latest");
  const { facts, json, current } = found.worker === undefined ? ofRun(found.run) : ofWorker(found.worker);
  const known = facts.flatMap(([fact, value]) => (value == null ? [] : harmlessLine(`${fact}: ${value}`)));
  return printAs(flags, json, () => known, current === "unknown" ? 2 : AT_WORK.includes(current) ? 0 : 1);
}

type Fact = [name: string, value: string | number | null | undefined];

function ofWorker(worker: Worker) {
  const { home, name, state, record } = worker;
  const ended = endOf(worker);
  const row = workerRow(worker);
  const { status: current, reason } = row;
  const run = record && runFolder(home, record.run);
  const answered = run !== undefined && hasAnswer(run);
  const json = { ...state, ...row, ended, answered };
  const facts: Fact[] = [["Ralph Loop", name]];
  if (state === undefined) {
    facts.push(["Status", "unknown (its state file cannot be read)"]);
    return { current, json, facts };
  }
  const shown = (time: string | null) => time?.replace("T", " ").replace(/\.\d+$/, "");
  const isCrashed = current === "crashed";
  const hasEnded = reason !== null && !isCrashed && !AT_WORK.includes(current);
  facts.push(
    ["Status", current],
    ["Result", AT_WORK.includes(current) ? null : row.result],
    ["Iteration", `${state.current_iteration}/${state.max_iterations}`],
    ["Started", shown(state.started)],
    ["Current iteration started", shown(state.last_iteration_started)],
    ["Consecutive failures", state.consecutive_failures],
    ["Total failures", state.total_failures],
    ["Inactivity timeout", `${state.inactivity_timeout}s`],
    ["Done pattern", state.done_pattern],
    ...waitOf(current, worker.run),
    ["Next", isCrashed ? `its loop is gone; ralph resume ${name} continues it` : null],
    ["Reason", hasEnded ? reasonWords(reason, ended?.message) : null],
    ...questionOf(name, ended, answered),
  );
  return { current, json, facts };
}

function ofRun(run: RunFolder) {
  const spec = run.shown();
  const name = run.name();
  const state = run.state();
  const current = run.status(state?.status);
  const answered = hasAnswer(run);
  const allowed = limitsOfAll(spec.limits, state ?? { recipe: spec.recipe.kind }).maxIterations;
  const { reason = null, iterations = 0, costUsd = null, question = null, finished } = state ?? {};
  const facts: Fact[] = [
    ["Ralph Loop", name],
    ["Run", run.id],
    ["Status", current],
    ["Result", AT_WORK.includes(current) ? null : resultOf(current, finished, state?.limits ?? spec.limits)],
    // It counts the current iteration, as `ralph ls` does.
    ["Iteration", `${iterations + (AT_WORK.includes(current) ? 1 : 0)}/${allowed}`],
    ["Started", localTime(new Date(spec.createdAt)).replace("T", " ")],
    ["Consecutive failures", state?.consecutiveFailures ?? 0],
    ...waitOf(current, state),
    ["Reason", reason && reasonWords(reason, finished?.message)],
    ...questionOf(name, state, answered),
  ];
  const standing = { status: current, reason, iterations, costUsd, question, answered };
  return { current, facts, json: { kind: "run", name, run: run.id, ...standing } };
}

function reasonWords(reason: string, message: string | undefined): string {
  return message === undefined ? reason : `${reason} (${message})`;
}

function waitOf(current: string, state: RunState | undefined): Fact[] {
  if (current !== "waiting" || state === undefined) return [];
  return Object.values(state.limited).map(({ until, message }) => ["Waiting until", `${until} (${message})`]);
}

function questionOf(
  name: string,
  ended: Partial<Pick<RunState, "question" | "limit">> | undefined,
  isAnswered: boolean,
): Fact[] {
  if (ended?.question === undefined) return [];
  const { question, limit } = ended;
  return [
    ["Question", harmlessLine(question.text)],
    isAnswered
      ? ["Answered", `${howToResume(name, { limit })} continues it`]
      : ["Answer with", `ralph answer ${name} "TEXT"`],
  ];
}
