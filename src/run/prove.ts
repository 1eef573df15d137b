import { resolve } from "node:path";
import { describeSystemError, toRalphError } from "../errors.js";
import type { CheckFinished, RunFinished } from "../events.js";
import { type CheckFacts, digestOfLog, sha256, storeIn, writeReceipt } from "../receipts/statement.js";
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
    const wasRed = (command: string): boolean | undefined => {
      const before = baseline?.find((one) => one.command === command)?.before;
      return before === undefined ? undefined : !before;
    };
    // The last verification is the one that decided.
    const facts = checkFacts(iteration?.checks ?? [], context.spec, hidden);
    const checks = facts.map((fact) => ({ ...fact, wasRed: wasRed(fact.command ?? fact.name ?? "") }));
    return { receipt: await receiptOf(context, checks) };
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

type CheckFields = Pick<
  CheckFinished,
  "name" | "command" | "hidden" | "passed" | "exitCode" | "durationMs" | "log" | "flaky"
>;

/** What a receipt says of checks that passed. */
export function checkFacts(
  checks: CheckFields[],
  { workspace, hidden: kept = [] }: Pick<RunSpec, "workspace" | "hidden">,
  hidden: HiddenChecks | undefined,
): CheckFacts[] {
  return checks
    .filter(({ passed }) => passed)
    .map(({ name, command, exitCode, durationMs, flaky, log, hidden: isHidden }) => {
      // Only a person who knows a secret command can compute its digest.
      const known = isHidden ? kept.find((one) => one.name === command) : undefined;
      return {
        ...(isHidden ? { name: command } : { name, command }),
        ...{ sha256: known?.sha256 ?? sha256(command), exitCode, durationMs, flaky },
        log: isHidden ? hidden?.digestOf(command) : log ? digestOfLog(resolve(workspace, log)) : undefined,
      };
    });
}
