import { statSync } from "node:fs";
import type { CostKey } from "../../costs.js";
import { type Charge, chargesOf, chargesSince, costRows, costSum } from "../../records/costs.js";
import { type RunFolder, runsIn } from "../../records/runs.js";
import { type Costs, GROUPS, type Group, type Overview, type RunRow } from "../api.js";

/** How many rows of a group are sent unless more are asked for. */
const SHOWN = 50;

interface RowFilter {
  text: string;
  project: string;
  /** How many of each group. */
  most?: number;
}

export function countsOf(rows: RunRow[]): Record<Group, number> {
  const counts = Object.fromEntries(GROUPS.map((group) => [group, 0])) as Record<Group, number>;
  for (const { group } of rows) counts[group] += 1;
  return counts;
}

/** The newest rows of each group that are wanted. */
export function listOf(
  all: RunRow[],
  { text, project, most = SHOWN }: RowFilter,
): Pick<Overview, "rows" | "counts" | "projects"> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter(
    (row) => (project === "" || row.project === project) && words.every((word) => textOf(row).includes(word)),
  );
  const rows = GROUPS.flatMap((group) => found.filter((row) => row.group === group).slice(0, most));
  const projects = [...new Set(all.map((row) => row.project))].filter(Boolean).sort();
  return { rows, counts: countsOf(found), projects };
}

function textOf({ name, id, task, project, agent, recipe, result, question }: RunRow): string {
  return [name, id, task, project, agent, recipe, result, question?.text ?? ""].join("\n").toLowerCase();
}

const DAY_MS = 24 * 3_600_000;

/** Of journals that have not changed since. */
const known = new Map<string, { print: string; charges: Charge[] }>();

/** The same figures as `ralph costs`. */
export function costsSince(home: string, days: number, by: CostKey): Costs {
  const since = Date.now() - days * DAY_MS;
  const charges = chargesSince(runsIn(home).list(), since, remembered);
  return { since: new Date(since).toISOString(), by, rows: costRows(charges, by), total: costSum(charges) };
}

function remembered(run: RunFolder): Charge[] {
  const { size = 0, mtimeMs = 0 } = statSync(run.journal, { throwIfNoEntry: false }) ?? {};
  const print = `${size} ${mtimeMs}`;
  const before = known.get(run.path);
  if (before?.print === print) return before.charges;
  const charges = chargesOf(run, run.shown());
  known.set(run.path, { print, charges });
  return charges;
}
