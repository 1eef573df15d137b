import { resolve } from "node:path";
import { describeSystemError, toRalphError } from "../errors.js";
import type { CheckFinished, RunFinished } from "../events.js";
import { digestOfLog, type ReceiptCheck, sha256, storeIn, writeReceipt } from "../receipts/statement.js";
import { redactDeep } from "../records/redact.js";
import type { RunState } from "../records/run-state.js";
import type { HiddenChecks } from "../verify/hidden.js";
import { takeSnapshot } from "../workspace/uncommitted.js";
import type { RunContext, RunSpec } from "./spec.js";

/** Writes the receipt of a successful run. A receipt that cannot be written does not change the outcome. */
export async function prove(
  context: RunContext,
  state: RunState,
  hidden: HiddenChecks | undefined,
): Promise<Pick<RunFinished, "receipt" | "unproven">> {
  try {
    const { iteration, baseline } = state;
    const witnessOf = ({ command, name }: ReceiptCheck): ReceiptCheck["witness"] => {
      const before = baseline?.find((one) => one.command === (command ?? name))?.before;
      return before === undefined ? null : before ? "green→green" : "red→green";
    };
    // The last verification is the one that decided.
    const passed = receiptChecks(iteration?.checks ?? [], context.spec, hidden);
    const checks = passed.map((check) => ({ ...check, witness: witnessOf(check) }));
    return { receipt: await receiptOf(context, checks) };
  } catch (error) {
    const known = toRalphError(error);
    if (known === undefined) throw error;
    return { unproven: `there is no receipt: ${describeSystemError(known)}` };
  }
}

async function receiptOf(
  { spec, settings, folder, redact, key }: RunContext,
  checks: ReceiptCheck[],
): Promise<string> {
  const { workspace, copied = [], base, agent, id: run, confirm: confirmed = 0 } = spec;
  const { folder: place, ...subject } = await takeSnapshot(workspace, storeIn(folder.path), copied);
  const facts = {
    ...{ kind: "run" as const, run, recipe: spec.recipe.kind },
    agent: { name: agent.name, model: agent.model ?? null },
    ...{ finishedAt: new Date().toISOString(), subject, base: base ?? null, folder: place },
    ...{ setup: settings.setup ?? null, confirmed, checks },
  };
  return await writeReceipt(folder.path, redactDeep(facts, redact), key);
}

type CheckFields = Pick<
  CheckFinished,
  "name" | "command" | "hidden" | "passed" | "exitCode" | "durationMs" | "log" | "flaky"
>;

/** What a receipt says of checks that passed. */
export function receiptChecks(
  checks: CheckFields[],
  { workspace, hidden: kept = [] }: Pick<RunSpec, "workspace" | "hidden">,
  hidden: HiddenChecks | undefined,
): ReceiptCheck[] {
  return checks
    .filter(({ passed }) => passed)
    .map(({ name, command, exitCode, durationMs, flaky, log, hidden: isHidden }) => {
      // Only a person who knows a secret command can compute its digest.
      const known = isHidden ? kept.find((one) => one.name === command) : undefined;
      const digest = isHidden ? hidden?.digestOf(command) : log && digestOfLog(resolve(workspace, log));
      return {
        ...{ name: (isHidden ? undefined : name) ?? command, command: isHidden ? null : command },
        ...{ sha256: known?.sha256 ?? sha256(command), exitCode, durationMs },
        ...{ log: digest ? { sha256: digest } : null, flaky: flaky ?? [], witness: null },
      };
    });
}
