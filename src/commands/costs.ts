import { COST_KEYS, type CostKey, type CostRow, type CostSum } from "../costs.js";
import { chargesSince, costRows, costSum } from "../records/costs.js";
import { runsIn } from "../records/runs.js";
import { duration, invalid } from "../settings/limits.js";
import { costCell, formatTokens, joined, plural } from "../views/figures.js";
import { tableLines } from "../views/layout.js";
import { printAs, warn } from "./output.js";

const SINCE = "30d";

/** `ralph costs`: what the calls of agents cost. An unknown cost is unknown, not 0. */
export async function costs(flags: { since?: string; by?: string; json?: boolean }): Promise<number> {
  const { since: given = SINCE, by = "day" } = flags;
  if (!isKey(by)) throw invalid("--by", by, COST_KEYS.join(", "));
  const since = Date.now() - duration("--since", given, 1);
  const charges = chargesSince(runsIn().list(), since, undefined, (error) => warn((error as Error).message));
  const [rows, total] = [costRows(charges, by), costSum(charges)];
  const document = { v: 1, since: new Date(since).toISOString(), by, rows, total };
  return printAs(flags, document, () => (rows.length === 0 ? [nothing(given)] : table(by, rows, total)));
}

function isKey(by: string): by is CostKey {
  return (COST_KEYS as readonly string[]).includes(by);
}

function nothing(since: string): string {
  return `No agent ran in the last ${since}. ralph costs --since 365d looks further back.`;
}

function table(by: CostKey, rows: CostRow[], total: CostSum): string[] {
  const cells = rows.map((row) => [row.key, costWords(row), ...figures(row)]);
  const head = [by.toUpperCase(), "COST", "RUNS", "CALLS", "TOKENS"];
  const lines = tableLines([head, ...cells], { width: process.stdout.columns, right: [2, 3] });
  const sum = joined(costWords(total), plural(total.runs, "run"), plural(total.calls, "call"));
  return [...lines, "", `Total: ${sum}`];
}

function figures(sum: CostSum): string[] {
  return [String(sum.runs), String(sum.calls), formatTokens(sum) ?? "-"];
}

/** `$3.20`, `$3.20 and 2 calls of unknown cost`, `unknown` */
function costWords({ costUsd, costEstimated, unknown }: CostSum): string {
  if (costUsd === null) return "unknown";
  const known = `${costCell(costUsd)}${costEstimated ? " (in part an estimate)" : ""}`;
  return unknown === 0 ? known : `${known} and ${plural(unknown, "call")} of unknown cost`;
}
