import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { describeSystemError, toRalphError } from "../../errors.js";
import { signingKey } from "../../receipts/signature.js";
import { type ReceiptCheck, receiptIn, writeReceipt } from "../../receipts/statement.js";
import { createRedactor, redactDeep } from "../../records/redact.js";
import { repositoryRoot } from "../../workspace/git.js";
import type { RunSpec } from "../spec.js";

/** Where the run worked, from the top of its checkout on. */
export function insideOf({ workspace, worktree }: RunSpec): string {
  return relative(worktree ?? repositoryRoot(workspace) ?? workspace, workspace);
}

interface LandedCommit {
  subject: { commit: string; tree: string };
  base: string;
  checks: ReceiptCheck[];
  setup: string | undefined;
}

export type Proof = { receipt: string } | { unproven: string };

/** Writes into a folder of records what was verified on a commit that lands; where that fails, the landing goes on. */
export async function proveLanding(
  spec: RunSpec,
  records: string,
  { subject, base, checks, setup }: LandedCommit,
): Promise<Proof> {
  const { id: run, recipe, origin: repository = spec.workspace } = spec;
  try {
    const { name, model } = spec.agent;
    const facts = {
      ...{ kind: "landing" as const, run, recipe: recipe.kind, agent: { name, model: model ?? null } },
      ...{ finishedAt: new Date().toISOString(), subject, base, folder: insideOf(spec) },
      ...{ setup: setup ?? null, confirmed: checks.length === 0 ? 0 : 1, checks },
    };
    const key = spec.sign ? await signingKey(repository) : undefined;
    return { receipt: await writeReceipt(records, redactDeep(facts, createRedactor(process.env)), key) };
  } catch (error) {
    if (toRalphError(error) === undefined) throw error;
    return { unproven: `there is no receipt: ${describeSystemError(error)}` };
  }
}

/** The proof of a landing that a crash cut off after its branch had moved. */
export function provedBefore(records: string, commit: string): Proof {
  const receipt = receiptIn(records);
  const isAbout = existsSync(receipt) && readFileSync(receipt, "utf8").includes(`"gitCommit": "${commit}"`);
  return isAbout ? { receipt } : { unproven: "there is no receipt: ralph was ended before it was written" };
}
