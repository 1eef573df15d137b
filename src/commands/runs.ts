import { basename } from "node:path";
import { type RunFolder, runsIn } from "../records/runs.js";
import { taskOf } from "../records/spec.js";
import { hasAnswer } from "../records/words.js";
import { isSuccess } from "../stop-reasons.js";
import { costCell } from "../views/figures.js";
import { brief, harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/table.js";
import { warn } from "./find.js";
import { printAs } from "./output.js";

/** More are too many to read: the older ones are counted. */
const MAX_ROWS = 1000;

/** `ralph runs`: every run there is a record of. */
export async function runs(flags: { json?: boolean; all?: boolean }): Promise<number> {
  const all = runsIn().list();
  const shown = flags.json || flags.all ? all : all.slice(-MAX_ROWS);
  const rows = shown.map(rowOf);
  const older = all.length - shown.length;
  if (older > 0) process.stderr.write(`ralph: ${older} older runs are not shown: ralph runs --all\n`);
  await printAs(flags, rows, () => table(rows));
  return 0;
}

function rowOf(run: RunFolder) {
  const { id } = run;
  try {
    const spec = run.shown();
    const { worker = null, recipe, createdAt, workspace, agent } = spec;
    const { question, ...standing } = standingOf(run);
    return {
      ...{ id, name: worker, recipe: recipe.kind, ...standing, startedAt: createdAt, workspace },
      ...{ agent: agent.name, task: taskOf(spec) },
      /** What its agent wants to know from a human, and whether it has an answer for when the run goes on. */
      question: question?.text ?? null,
      answered: question !== undefined && hasAnswer(run),
    };
  } catch (error) {
    warn((error as Error).message);
    return { id, ...DAMAGED };
  }
}

const DAMAGED = {
  ...{ name: null, recipe: "", status: "damaged", reason: null, iterations: 0, costUsd: null },
  ...{ startedAt: "", workspace: "", agent: "", task: "", question: null, answered: false },
};

/** There may be thousands of runs: of those that have ended, the last line of the journal is enough. */
function standingOf(run: RunFolder) {
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

const FOLDER_CHARS = 12;

function table(rows: ReturnType<typeof rowOf>[]): string[] {
  if (rows.length === 0)
    return ["No runs yet. Start one with: ralph loop TASK --check CMD, or ralph run -p TEXT"];
  const cells = rows.map(({ id, reason, status, iterations, costUsd, workspace, ...row }) => {
    const asked = `${row.answered ? "answered" : "asks"}: ${harmlessLine(row.question ?? "")}`;
    const came = isSuccess(reason) ? "completed" : (reason ?? status);
    const folder = brief(basename(workspace), FOLDER_CHARS);
    return [
      id,
      came,
      String(iterations),
      costCell(costUsd),
      folder,
      brief(row.question === null ? row.task : asked),
    ];
  });
  const layout = { width: process.stdout.columns, right: [2, 3] };
  return tableLines([["RUN", "STATUS", "ITER", "COST", "FOLDER", "TASK"], ...cells], layout);
}
