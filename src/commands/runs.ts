import { existsSync } from "node:fs";
import { basename } from "node:path";
import { COST_KEYS, type CostKey, type CostRow, type CostSum } from "../costs.js";
import { formatDuration } from "../duration.js";
import { chargesSince, costRows, costSum } from "../records/costs.js";
import { resultOf } from "../records/result.js";
import { activeMsUntil } from "../records/run-state.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import { type SpecRecord, taskOf } from "../records/spec.js";
import { hasAnswer } from "../records/words.js";
import { duration, invalid, wholeNumber } from "../settings/limits.js";
import { costCell, formatCost, formatTokens, joined, plural } from "../views/figures.js";
import { brief, harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/layout.js";
import { belongsTo } from "./find.js";
import { printAs, warn } from "./output.js";
import { statusFilter } from "./status.js";

interface RunsFlags {
  json?: boolean;
  all?: boolean;
  count?: string;
  since?: string;
  status?: string;
}

const ROWS = 20;

/** `ralph runs`: all recorded runs, those of this folder first. */
export async function runs(flags: RunsFlags): Promise<number> {
  const isWanted = statusFilter(flags.status);
  const since = flags.since === undefined ? 0 : Date.now() - duration("--since", flags.since, 1);
  const count = flags.count === undefined ? undefined : wholeNumber("-n", flags.count, 1);
  const isHere = belongsTo(process.cwd());
  const found = runsIn()
    .list()
    .map((run) => rowOf(run, isHere))
    .filter(({ row, at }) => isWanted(row.result) && (at >= since || row.startedAt === ""));
  const most = count ?? (flags.json || flags.all ? found.length : ROWS);
  const isFiltered = flags.since !== undefined || flags.status !== undefined;
  return printAs(
    flags,
    found.slice(-most).map(({ row }) => row),
    () => (found.length === 0 ? [isFiltered ? NONE_LIKE_THAT : NO_RUNS] : table(found, most)),
  );
}

const NO_RUNS = "No runs yet. Start one with: ralph loop TASK --check CMD, or ralph run TEXT";
const NONE_LIKE_THAT = "No run matches.";

type ListedRun = ReturnType<typeof rowOf>;

const DAMAGED = {
  ...{ name: null, recipe: "", status: "damaged", reason: null, result: "unknown", iterations: 0 },
  ...{ costUsd: null, durationMs: 0, startedAt: "", workspace: "", agent: "", task: "" },
  ...{ question: null, answered: false },
};

function rowOf(run: RunFolder, isHere: (spec: SpecRecord) => boolean) {
  try {
    const spec = run.shown();
    return { run, row: runRow(run, spec), isHere: isHere(spec), at: Date.parse(spec.createdAt) };
  } catch (error) {
    warn((error as Error).message);
    return { run, row: { id: run.id, ...DAMAGED }, isHere: false, at: 0 };
  }
}

function runRow(run: RunFolder, spec: SpecRecord) {
  const { worker, name = worker ?? null, recipe, createdAt, workspace, agent } = spec;
  const { question, ...standing } = standingOf(run, spec);
  return {
    ...{ id: run.id, name, recipe: recipe.kind, ...standing },
    ...{ startedAt: createdAt, workspace, agent: agent.name, task: taskOf(spec) },
    /** The agent's question, and whether an answer waits for the run to continue. */
    question: question?.text ?? null,
    answered: question !== undefined && hasAnswer(run),
  };
}

/** There may be thousands of runs: of those that have ended, the last line of the journal is enough. */
function standingOf(run: RunFolder, { limits }: SpecRecord) {
  const last = run.lastEvent();
  if (last?.type === "run.finished") {
    const { reason, iterations, costUsd, durationMs, question } = last;
    const result = resultOf("finished", last, limits);
    return { status: "finished", reason, result, iterations, costUsd, durationMs, question };
  }
  const { state, unreadable = 0 } = run.read() ?? {};
  if (unreadable > 0) warn(`${run.journal} has ${unreadable} unreadable lines`);
  const status = run.status(state?.status);
  const { reason = null, iterations = 0, costUsd = null, question } = state ?? {};
  const isPausing = status === "running" && existsSync(run.pause);
  const result = resultOf(isPausing ? "pausing" : status, state?.finished, state?.limits ?? limits);
  const activeMs = state === undefined ? 0 : activeMsUntil(Date.now(), state, status === "running");
  return { status, reason, result, iterations, costUsd, durationMs: Math.round(activeMs), question };
}

const HEAD = ["RUN", "AGE", "TIME", "RESULT", "COST", "FOLDER", "TASK"];
const FOLDER_CHARS = 14;
/** Where the width of the terminal is unknown. */
const COLUMNS = 80;

function table(found: ListedRun[], most: number): string[] {
  const newest = found.toReversed();
  const ordered = [...newest.filter((one) => one.isHere), ...newest.filter((one) => !one.isHere)];
  const cells = ordered.slice(0, most).map(({ run, row, at }) => {
    const asked = `${row.answered ? "answered" : "asks"}: ${harmlessLine(row.question ?? "")}`;
    // `3d`, `5h`, `12m`, `40s`
    const ms = Math.max(0, Date.now() - at);
    const [unit, size] = AGES.find(([, least]) => ms >= least) ?? ["s", 1000];
    const age = row.startedAt === "" ? "-" : `${Math.floor(ms / size)}${unit}`;
    const folder = brief(basename(row.workspace), FOLDER_CHARS);
    // The name of a prompt file says more than the folders above it.
    const task = row.task.replace(/^\/\S*\//, "");
    const figures = [age, formatDuration(row.durationMs), row.result, costCell(row.costUsd)];
    return [run.name(), ...figures, folder, brief(row.question === null ? task : asked)];
  });
  const width = process.stdout.columns || COLUMNS;
  const lines = tableLines([HEAD, ...cells], { width, right: [1, 2, 4] });
  const left = found.length - cells.length;
  return [
    ...lines,
    "",
    ...(left > 0 ? [`${plural(left, "more run")}: ralph runs --all shows all of them`] : []),
    totals(found),
  ];
}

const AGES: [unit: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
];

/** `14 runs · $3.20, 2 of unknown cost · 75% succeeded (9 of 12)` */
function totals(found: ListedRun[]): string {
  const rows = found.map(({ row }) => row);
  const costs = rows.flatMap(({ costUsd }) => costUsd ?? []);
  const unknown = rows.length - costs.length;
  const ended = rows.filter(({ status }) => status === "finished" || status === "crashed");
  const done = ended.filter(({ result }) => result === "done").length;
  return joined(
    plural(rows.length, "run"),
    [
      ...(costs.length === 0 ? [] : [formatCost(costs.reduce((sum, cost) => sum + cost, 0))]),
      ...(unknown === 0 ? [] : [costs.length === 0 ? "cost unknown" : `${unknown} of unknown cost`]),
    ].join(", "),
    ended.length > 0 && `${Math.round((100 * done) / ended.length)}% succeeded (${done} of ${ended.length})`,
  );
}

const SINCE = "30d";

/** `ralph costs`: what the calls of agents cost. An unknown cost is unknown, not 0. */
export async function costs(flags: { since?: string; by?: string; json?: boolean }): Promise<number> {
  const { since: given = SINCE, by = "day" } = flags;
  if (!isKey(by)) throw invalid("--by", by, COST_KEYS.join(", "));
  const since = Date.now() - duration("--since", given, 1);
  const charges = chargesSince(runsIn().list(), since, undefined, (error) => warn((error as Error).message));
  const [rows, total] = [costRows(charges, by), costSum(charges)];
  const document = { v: 1, since: new Date(since).toISOString(), by, rows, total };
  const nothing = `No agent ran in the last ${given}. ralph costs --since 365d looks further back.`;
  return printAs(flags, document, () => (rows.length === 0 ? [nothing] : costTable(by, rows, total)));
}

function isKey(by: string): by is CostKey {
  return (COST_KEYS as readonly string[]).includes(by);
}

function costTable(by: CostKey, rows: CostRow[], total: CostSum): string[] {
  const cells = rows.map((row) => {
    const { key, runs, calls } = row;
    return [key, costWords(row), String(runs), String(calls), formatTokens(row) ?? "-"];
  });
  const head = [by.toUpperCase(), "COST", "RUNS", "CALLS", "TOKENS"];
  const lines = tableLines([head, ...cells], { width: process.stdout.columns, right: [2, 3] });
  const sum = joined(costWords(total), plural(total.runs, "run"), plural(total.calls, "call"));
  return [...lines, "", `Total: ${sum}`];
}

/** `$3.20`, `$3.20 and 2 calls of unknown cost`, `unknown` */
function costWords({ costUsd, costEstimated, unknown }: CostSum): string {
  if (costUsd === null) return "unknown";
  const known = `${costCell(costUsd)}${costEstimated ? " (in part an estimate)" : ""}`;
  return unknown === 0 ? known : `${known} and ${plural(unknown, "call")} of unknown cost`;
}
