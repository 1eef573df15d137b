import { resolve } from "node:path";
import { describeSystemError, toRalphError } from "../errors.js";
import type { RunFinished } from "../events.js";
import { type CheckFacts, sha256 } from "../receipts/statement.js";
import { digestOfLog, storeIn, writeReceipt } from "../receipts/write.js";
import type { CheckReport } from "../records/iteration.js";
import { redactDeep } from "../records/redact.js";
import type { RunState } from "../records/run-state.js";
import { takeSnapshot } from "../workspace/snapshot.js";
import type { RunContext } from "./spec.js";

/** Writes the receipt of a run that has succeeded. That it cannot be written does not change how the run ended. */
export async function prove(
  context: RunContext,
  state: RunState,
): Promise<Pick<RunFinished, "receipt" | "unproven">> {
  try {
    return { receipt: await receiptOf(context, state) };
  } catch (error) {
    const known = toRalphError(error);
    if (known === undefined) throw error;
    return { unproven: `there is no receipt: ${describeSystemError(known)}` };
  }
}

async function receiptOf({ spec, settings, folder, redact }: RunContext, state: RunState): Promise<string> {
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
    ...{ setup: settings.setup, confirmed, checks: checksOf(state, workspace) },
  };
  return writeReceipt(folder.path, redactDeep(facts, redact));
}

/** The checks of the last verification, which decided. */
function checksOf({ iteration, baseline }: RunState, workspace: string): CheckFacts[] {
  const passed = iteration?.checks.filter((check) => check.passed) ?? [];
  return passed.map(({ command, name, exitCode, durationMs, log, flaky }: CheckReport) => {
    const before = baseline?.find((check) => check.command === command)?.before;
    return {
      ...{ name, command, sha256: sha256(command), exitCode, durationMs, flaky },
      log: log === "" ? undefined : digestOfLog(resolve(workspace, log)),
      wasRed: before === undefined ? undefined : !before,
    };
  });
}
