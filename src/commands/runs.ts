import { basename } from "node:path";
import type { Question, StopReason } from "../events.js";
import type { RunStatus } from "../records/run-state.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import { taskOf } from "../records/spec.js";
import { hasAnswer } from "../records/words.js";
import { isSuccess } from "../stop-reasons.js";
import { formatCost } from "../views/figures.js";
import { brief, harmlessJson, harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/table.js";
import { warn } from "./find-worker.js";
import { printAll } from "./output.js";

interface RunRow {
  id: string;
  name: string | null;
  recipe: string;
  status: RunStatus | "damaged";
  reason: StopReason | null;
  iterations: number;
  costUsd: number | null;
  startedAt: string;
  workspace: string;
  agent: string;
  task: string;
  /** What its agent wants to know from a human. */
  question: string | null;
  /** Whether somebody has told it, for when the run goes on. */
  answered: boolean;
}

/** More are too many to read: the older ones are counted. */
const MAX_ROWS = 1000;

/** `ralph runs`: every run there is a record of. */
export async function runs(flags: { json?: boolean; all?: boolean }): Promise<number> {
  const all = runsIn().list();
  const shown = flags.json || flags.all ? all : all.slice(-MAX_ROWS);
  const rows = shown.map(rowOf);
  const older = all.length - shown.length;
  if (older > 0) process.stderr.write(`ralph: ${older} older runs are not shown: ralph runs --all\n`);
  await printAll(flags.json ? `${harmlessJson(rows, 2)}\n` : table(rows));
  return 0;
}

function rowOf(run: RunFolder): RunRow {
  try {
    const spec = run.shown();
    const { question, ...standing } = standingOf(run);
    return {
      id: run.id,
      name: spec.worker ?? null,
      recipe: spec.recipe.kind,
      ...standing,
      startedAt: spec.createdAt,
      workspace: spec.workspace,
      agent: spec.agent.name,
      task: taskOf(spec),
      question: question?.text ?? null,
      answered: question !== undefined && hasAnswer(run),
    };
  } catch (error) {
    warn((error as Error).message);
    return { ...EMPTY, id: run.id };
  }
}

const EMPTY: Omit<RunRow, "id"> = {
  ...{ name: null, recipe: "", status: "damaged", reason: null, iterations: 0, costUsd: null },
  ...{ startedAt: "", workspace: "", agent: "", task: "", question: null, answered: false },
};

type Standing = Pick<RunRow, "status" | "reason" | "iterations" | "costUsd"> & {
  question: Question | undefined;
};

/** There may be thousands of runs: of those that have ended, the last line of the journal is enough. */
function standingOf(run: RunFolder): Standing {
  const last = run.lastEvent();
  if (last?.type === "run.finished") {
    const { reason, iterations, costUsd, question } = last;
    return { status: "finished", reason, iterations, costUsd, question };
  }
  const { state, unreadable = 0 } = run.read() ?? {};
  if (unreadable > 0) warn(`${run.journal} has ${unreadable} unreadable lines`);
  const { reason = null, iterations = 0, costUsd = null, question } = state ?? {};
  return { status: run.status(state?.status), reason, iterations, costUsd, question };
}

const HEAD = ["RUN", "STATUS", "ITER", "COST", "FOLDER", "TASK"];
const FOLDER_CHARS = 12;

function table(rows: RunRow[]): string {
  if (rows.length === 0)
    return "No runs yet. Start one with: ralph loop TASK --check CMD, or ralph run -p TEXT\n";
  const cells = rows.map((row) => [
    row.id,
    isSuccess(row.reason) ? "completed" : (row.reason ?? row.status),
    String(row.iterations),
    row.costUsd === null ? "-" : formatCost(row.costUsd),
    shorten(basename(row.workspace), FOLDER_CHARS),
    brief(aboutOf(row)),
  ]);
  const layout = { width: process.stdout.columns, right: [2, 3] };
  return `${tableLines([HEAD, ...cells], layout).join("\n")}\n`;
}

function aboutOf({ question, answered, task }: RunRow): string {
  return question === null ? task : `${answered ? "answered" : "asks"}: ${harmlessLine(question)}`;
}

function shorten(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}
