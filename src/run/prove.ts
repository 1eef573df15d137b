import { resolve } from "node:path";
import { describeSystemError, toRalphError } from "../errors.js";
import type { RunFinished } from "../events.js";
import { type CheckFacts, sha256 } from "../receipts/statement.js";
import { digestOfLog, storeIn, writeReceipt } from "../receipts/write.js";
import type { CheckReport } from "../records/iteration.js";
import { redactDeep } from "../records/redact.js";
import type { RunState } from "../records/run-state.js";
import type { HiddenChecks } from "../verify/hidden.js";
import { takeSnapshot } from "../workspace/snapshot.js";
import type { RunContext } from "./spec.js";

/** Writes the receipt of a successful run. A receipt that cannot be written does not change the outcome. */
export async function prove(
  context: RunContext,
  state: RunState,
  hidden: HiddenChecks | undefined,
): Promise<Pick<RunFinished, "receipt" | "unproven">> {
  try {
    hidden?.writeLogs();
    return { receipt: await receiptOf(context, checksOf(state, context.spec.workspace, hidden)) };
  } catch (error) {
    const known = toRalphError(error);
    if (known === undefined) throw error;
    return { unproven: `there is no receipt: ${describeSystemError(known)}` };
  }
}

async function receiptOf(
  { spec, settings, folder, redact, key }: RunContext,
  checks: CheckFacts[],
): Promise<string> {
  const { workspace, copied = [], base, agent, id: run, confirm: confirmed = 0 } = spec;
  const { folder: place, ...subject } = await takeSnapshot(workspace, storeIn(folder.path), copied);
  const facts = {
    ...{
      kind: "run" as const,
      run,
      recipe: spec.recipe.kind,
      agent: { name: agent.name, model: agent.model },
    },
    ...{ finishedAt: new Date().toISOString(), subject, base, folder: place },
    ...{ setup: settings.setup, confirmed, checks },
  };
  return await writeReceipt(folder.path, redactDeep(facts, redact), key);
}

/** The checks of the last verification, the one that decided. */
function checksOf(
  { iteration, baseline }: RunState,
  workspace: string,
  hidden: HiddenChecks | undefined,
): CheckFacts[] {
  const passed = iteration?.checks.filter((check) => check.passed) ?? [];
  return passed.map(({ command, name, exitCode, durationMs, flaky, ...check }: CheckReport) => {
    const before = baseline?.find((one) => one.command === command)?.before;
    const isHidden = check.hidden === true;
    const log = isHidden ? hidden?.logOf(command) : check.log;
    // Only a person who knows a secret command can compute its digest.
    const known = (isHidden && hidden?.commandOf(command)) || command;
    return {
      ...(isHidden ? { name: command } : { name, command }),
      ...{ sha256: sha256(known), exitCode, durationMs, flaky },
      log: log ? digestOfLog(resolve(workspace, log)) : undefined,
      wasRed: before === undefined ? undefined : !before,
    };
  });
}
