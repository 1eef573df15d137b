import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError, toRalphError } from "../../errors.js";
import type { CheckFinished } from "../../events.js";
import { signingKey } from "../../receipts/signature.js";
import { sha256 } from "../../receipts/statement.js";
import { digestOfLog, writeReceipt } from "../../receipts/write.js";
import { createRedactor, redactDeep } from "../../records/redact.js";
import { git } from "../../workspace/git.js";
import { treeOf } from "../../workspace/landing/merge.js";
import { insideOf } from "./checks.js";
import type { LandingPlan } from "./plan.js";

interface LandedCommit {
  new: string;
  old: string;
  checks: CheckFinished[];
  setup: string | undefined;
}

/** Writes what was verified on the commit that landed. Returns the file, or why there is none; the landing stands. */
export async function landingReceipt(
  { run, spec, repository }: LandingPlan,
  { new: commit, old: base, checks, setup }: LandedCommit,
): Promise<{ receipt: string } | { unproven: string }> {
  try {
    const folder = join(run.path, "landing");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { name, model } = spec.agent;
    const tree = await treeOf((args) => git(repository, args), commit);
    const facts = {
      ...{ kind: "landing" as const, run: run.id, recipe: spec.recipe.kind, agent: { name, model } },
      ...{ finishedAt: new Date().toISOString(), subject: { commit, tree }, base, folder: insideOf(spec) },
      ...{ setup, confirmed: 1 },
      checks: checks.map(({ command, exitCode, durationMs, log, ...check }) => ({
        ...{ name: check.name, command, sha256: sha256(command), exitCode, durationMs },
        log: digestOfLog(log),
      })),
    };
    const key = spec.sign ? await signingKey(repository) : undefined;
    return { receipt: await writeReceipt(folder, redactDeep(facts, createRedactor(process.env)), key) };
  } catch (error) {
    if (toRalphError(error) === undefined) throw error;
    return { unproven: `there is no receipt: ${describeSystemError(error)}` };
  }
}
