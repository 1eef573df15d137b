import { statSync } from "node:fs";
import { basename } from "node:path";
import { sumOfCosts } from "../agents/spending.js";
import type { CostKey, CostRow, CostSum } from "../costs.js";
import { linesOf, parseLine } from "./read.js";
import type { RunFolder } from "./runs.js";
import type { SpecRecord } from "./spec.js";

export interface Charge {
  run: string;
  /** When it had ended, in milliseconds since the epoch. */
  at: number;
  agent: string;
  project: string;
  /** null: unknown. */
  costUsd: number | null;
  costEstimated: boolean;
  inputTokens: number;
  outputTokens: number;
}

/** Everything else in a journal is passed over without being parsed. */
const CALLS = /"type":"(?:agent\.started|agent\.finished|scm\.asked)"/;
/** The type is among the first fields of a line. */
const TYPE_CHARS = 160;

export function chargesOf(run: RunFolder, spec: SpecRecord): Charge[] {
  const charges: Charge[] = [];
  const project = projectOf(spec);
  /** Lanes ask at the same time. */
  const asked = new Map<string | undefined, string>();
  for (const { text } of linesOf(run.journal)) {
    const event = CALLS.test(text.slice(0, TYPE_CHARS)) ? parseLine(text) : undefined;
    if (event?.type === "agent.started") asked.set(event.lane, event.agent);
    if (event?.type !== "agent.finished" && event?.type !== "scm.asked") continue;
    const {
      costUsd,
      costEstimated = false,
      inputTokens,
      outputTokens,
    } = event.type === "scm.asked" ? event.spent : event;
    const own = {
      run: run.id,
      at: Date.parse(event.ts),
      agent: asked.get(event.lane) ?? spec.agent.name,
      project,
    };
    charges.push({ ...own, costUsd, costEstimated, inputTokens, outputTokens });
  }
  return charges;
}

/** What people call the folder that a run was started in. */
export function projectOf({ origin, workspace }: Pick<SpecRecord, "origin" | "workspace">): string {
  return basename(origin ?? workspace);
}

/** Days in their order, all else the dearest first. */
export function costRows(charges: Charge[], by: CostKey): CostRow[] {
  const groups = new Map<string, Charge[]>();
  for (const charge of charges) {
    const key = by === "day" ? dayOf(charge.at) : charge[by];
    const own = groups.get(key) ?? [];
    own.push(charge);
    groups.set(key, own);
  }
  const rows = [...groups].map(([key, own]) => ({ key, ...costSum(own) }));
  if (by === "day") return rows.sort((a, b) => (a.key < b.key ? -1 : 1));
  return rows.sort((a, b) => (b.costUsd ?? -1) - (a.costUsd ?? -1) || b.calls - a.calls);
}

export function costSum(charges: Charge[]): CostSum {
  const known = charges.flatMap(({ costUsd }) => costUsd ?? []);
  const sum = (field: "inputTokens" | "outputTokens"): number =>
    charges.reduce((all, charge) => all + charge[field], 0);
  return {
    runs: new Set(charges.map(({ run }) => run)).size,
    calls: charges.length,
    costUsd: known.length === 0 ? null : known.reduce((all, cost) => sumOfCosts(all, cost)),
    costEstimated: charges.some(({ costEstimated }) => costEstimated),
    unknown: charges.length - known.length,
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
  };
}

/** By the user's clock. */
function dayOf(at: number): string {
  const date = new Date(at);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

/** Every call since then. `onDamage` hears of runs whose records cannot be read. */
export function chargesSince(
  runs: RunFolder[],
  since: number,
  read: (run: RunFolder) => Charge[] = (run) => chargesOf(run, run.shown()),
  onDamage: (error: unknown) => void = () => {},
): Charge[] {
  return runs.flatMap((run) => {
    try {
      const { mtimeMs = 0 } = statSync(run.journal, { throwIfNoEntry: false }) ?? {};
      // Nothing was written to it since.
      return mtimeMs < since ? [] : read(run).filter(({ at }) => at >= since);
    } catch (error) {
      onDamage(error);
      return [];
    }
  });
}
