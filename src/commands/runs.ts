import { existsSync } from "node:fs";
import { readSpec } from "../host/spec.js";
import { ralphHome } from "../state/home.js";
import { lockHolder } from "../state/lock.js";
import { listRunFolders, type RunFolder, readRun } from "../state/runs.js";
import { formatCost } from "../views/format.js";

interface RunRow {
  id: string;
  name: string | null;
  recipe: string;
  status: "running" | "paused" | "crashed" | "finished" | "damaged";
  reason: string | null;
  iterations: number;
  costUsd: number | null;
  startedAt: string;
  workspace: string;
}

/** `ralph runs`: every run there is a record of. */
export async function runs(flags: { json?: boolean }): Promise<number> {
  const home = ralphHome();
  const rows = listRunFolders(home).map((folder) => describe(home, folder));
  process.stdout.write(flags.json ? `${JSON.stringify(rows, null, 2)}\n` : table(rows));
  return 0;
}

function describe(home: string, folder: RunFolder): RunRow {
  try {
    return describeReadable(home, folder);
  } catch (error) {
    process.stderr.write(`ralph: warning: ${(error as Error).message}\n`);
    return { ...EMPTY, id: folder.id };
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
};

function describeReadable(home: string, folder: RunFolder): RunRow {
  const spec = readSpec(folder);
  const reading = readRun(folder);
  if (reading !== undefined && reading.unreadable > 0) {
    process.stderr.write(`ralph: warning: ${folder.journal} has ${reading.unreadable} unreadable lines\n`);
  }
  const state = reading?.state;
  const holder = existsSync(spec.workspace) ? lockHolder(home, spec.workspace) : undefined;
  const alive = holder?.run === folder.id;
  return {
    id: folder.id,
    name: null,
    recipe: spec.recipe.kind,
    status: state?.status === "finished" ? "finished" : alive ? (state?.status ?? "running") : "crashed",
    reason: state?.reason ?? null,
    iterations: state?.iterations ?? 0,
    costUsd: state?.costUsd ?? null,
    startedAt: spec.createdAt,
    workspace: spec.workspace,
  };
}

function table(rows: RunRow[]): string {
  if (rows.length === 0) return "No runs yet. Start one with: ralph run --prompt TEXT\n";
  const cells = rows.map((row) => [
    row.id,
    row.recipe,
    row.status,
    row.reason ?? "-",
    String(row.iterations),
    row.costUsd === null ? "-" : formatCost(row.costUsd),
    row.workspace,
  ]);
  const all = [["RUN", "RECIPE", "STATUS", "REASON", "ITERATIONS", "COST", "WORKSPACE"], ...cells];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return `${all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")}\n`;
}
