import { basename } from "node:path";
import { formatDuration } from "../duration.js";
import { ralphHome } from "../records/home.js";
import { invalid } from "../settings/limits.js";
import { costCell } from "../views/figures.js";
import { harmlessJson } from "../views/harmless.js";
import { tableLines } from "../views/table.js";
import { type LoopRow, type LoopStatus, loopRows } from "../workers/worker.js";
import { warn } from "./find.js";
import { printAll } from "./output.js";

type LsFlags = { format?: string; status?: string; tag?: string };

/** `ralph ls`: the workers, and the runs that are at work. */
export async function ls({ format = "table", status, tag }: LsFlags): Promise<number> {
  const render = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (render === undefined) throw invalid("--format", format, Object.keys(FORMATS).join(", "));
  if (status !== undefined && !STATUSES.some((known) => known === status))
    throw invalid("--status", status, STATUSES.join(", "));
  const rows = loopRows(ralphHome(), warn).filter(
    (row) => (status === undefined || row.status === status) && (tag === undefined || row.tags.includes(tag)),
  );
  await printAll(render(rows));
  return 0;
}

const STATUSES: LoopStatus[] = ["running", "paused", "waiting", "stopped", "failed", "crashed", "unknown"];

const FORMATS: Record<string, (rows: LoopRow[]) => string> = {
  table,
  json: (rows) => `${harmlessJson(rows.map(asJson), 2)}\n`,
  names: (rows) => rows.map(({ name }) => `${name}\n`).join(""),
};

function asJson(row: LoopRow) {
  return { ...row, metadata: { ralph: row.kind === "worker", ralph_iteration: row.iteration } };
}

const HEAD = ["NAME", "STATUS", "ITER", "TIME", "COST", "FOLDER", "LAST LINE"];

function table(rows: LoopRow[]): string {
  if (rows.length === 0) return "No workers. Start one with: ralph spawn --name NAME …\n";
  const cells = rows.map((row) => [
    row.name,
    row.status,
    `${row.iteration}/${row.maxIterations}`,
    formatDuration(row.activeMs),
    costCell(row.costUsd),
    basename(row.workspace),
    row.lastLine,
  ]);
  const layout = { width: process.stdout.columns, right: [2, 3, 4] };
  return `${tableLines([HEAD, ...cells], layout).join("\n")}\n`;
}
