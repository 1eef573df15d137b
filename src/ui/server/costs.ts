import { statSync } from "node:fs";
import type { CostKey } from "../../costs.js";
import { type Charge, chargesOf, chargesSince, costRows, costSum } from "../../records/costs.js";
import { type RunFolder, runsIn } from "../../records/runs.js";
import type { Costs } from "../api.js";

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
