import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Question, StopReason } from "../events.js";
import { hasAnswer } from "../records/answer.js";
import { endingOf } from "../records/glance.js";
import { ralphHome } from "../records/home.js";
import { taskOf } from "../records/report/read-report.js";
import { type RunStatus, runStatus } from "../records/run-status.js";
import { possibleRunFolders, type RunFolder, readRun } from "../records/runs.js";
import { readSpec, shownSpec } from "../run/spec.js";
import { isSuccess } from "../stop-reasons.js";
import { formatCost } from "../views/figures.js";
import { brief, harmlessJson, harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/table.js";
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
  const home = ralphHome();
  const folders = possibleRunFolders(home);
  const shown = flags.json || flags.all ? folders : folders.slice(-MAX_ROWS);
  const rows = shown.flatMap((folder) => describe(home, folder));
  const older = folders.length - shown.length;
  if (older > 0) process.stderr.write(`ralph: ${older} older runs are not shown: ralph runs --all\n`);
  await printAll(flags.json ? `${harmlessJson(rows, 2)}\n` : table(rows));
  return 0;
}

function describe(home: string, folder: RunFolder): RunRow[] {
  try {
    return [describeReadable(home, folder)];
  } catch (error) {
    if (!existsSync(folder.spec)) return [];
    process.stderr.write(`ralph: warning: ${(error as Error).message}\n`);
    return [{ ...EMPTY, id: folder.id }];
  }
}

const EMPTY: Omit<RunRow, "id"> = {
  name: null,
  recipe: "",
  status: "damaged",
  reason: null,
  iterations: 0,
  costUsd: null,
  startedAt: "",
  workspace: "",
  agent: "",
  task: "",
  question: null,
  answered: false,
};

function describeReadable(home: string, folder: RunFolder): RunRow {
  const spec = shownSpec(folder);
  const { question, ...standing } = standingOf(home, folder);
  return {
    id: folder.id,
    name: spec.worker ?? null,
    recipe: spec.recipe.kind,
    ...standing,
    startedAt: spec.createdAt,
    workspace: spec.workspace,
    agent: spec.agent.name,
    task: taskOf(spec),
    question: question?.text ?? null,
    answered: question !== undefined && hasAnswer(folder),
  };
}

type Standing = Pick<RunRow, "status" | "reason" | "iterations" | "costUsd"> & {
  question: Question | undefined;
};

/** There may be thousands of runs: of those that have ended, the last line of the journal is enough. */
function standingOf(home: string, folder: RunFolder): Standing {
  const ending = endingOf(folder.journal);
  if (ending !== undefined) {
    const { reason, iterations, costUsd, question } = ending;
    return { status: "finished", reason, iterations, costUsd, question };
  }
  const reading = readRun(folder);
  if (reading !== undefined && reading.unreadable > 0) {
    process.stderr.write(`ralph: warning: ${folder.journal} has ${reading.unreadable} unreadable lines\n`);
  }
  const state = reading?.state;
  return {
    status: runStatus(home, folder.id, readSpec(folder).workspace, state?.status),
    reason: state?.reason ?? null,
    iterations: state?.iterations ?? 0,
    costUsd: state?.costUsd ?? null,
    question: state?.question,
  };
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
