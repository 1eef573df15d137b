import { createHash } from "node:crypto";
import { join } from "node:path";
import { makeFolders, writeAlone } from "../records/files.js";
import type { Verification } from "../tree.js";
import type { Check, CheckResult } from "./check.js";
import { hasFailed } from "./check.js";
import { type ChecksSetup, type Results, runChecks } from "./schedule.js";

/** A check that agents do not know. Its command is in no record: ralph keeps it in memory alone. */
export interface HiddenCheck {
  /** What agents, events and reports call it. */
  name: string;
  command: string;
  timeoutMs: number;
}

/** What may be written down of checks before they run. */
export function checkNames(checks: Check[], hidden: HiddenCheck[]): { name?: string; command: string }[] {
  return [
    ...checks.map(({ name, command }) => ({ ...(name !== undefined && { name }), command })),
    ...hidden.map(({ name }) => ({ command: name })),
  ];
}

export type HiddenChecks = ReturnType<typeof createHidden>;

type Alone = <Result>(action: () => Promise<Result>) => Promise<Result>;

/**
 * The hidden checks of a run. What they print is kept in memory; `writeLogs` writes it into `folder`, and is called
 * when no agent of the run works any more. `alone` runs one where no agent can see it.
 */
export function createHidden(given: HiddenCheck[], folder: string, alone: Alone = (action) => action()) {
  const said = new Map<string, string>();
  const checks = given.map(
    ({ name, command, timeoutMs }): Check => ({
      ...{ command: name, script: command, timeoutMs },
      async judge(run) {
        const result = await alone(run);
        said.set(name, `$ ${command}\n${result.output}`);
        return masked(result);
      },
    }),
  );
  return {
    checks,
    run: runHidden,
    writeLogs(): void {
      if (said.size > 0) makeFolders(folder, 0o700);
      for (const [at, { command }] of checks.entries()) {
        const text = said.get(command);
        if (text !== undefined) writeAlone(join(folder, `${at + 1}.log`), text, 0o600);
      }
    },
    /** sha256 of the log of the one with this name. */
    digestOf: (name: string): string =>
      createHash("sha256")
        .update(said.get(name) ?? "")
        .digest("hex"),
  };
}

/** Whether it passed, and nothing else. */
function masked({ check, event, tests }: CheckResult): CheckResult {
  const { type, iteration, command, passed, durationMs } = event;
  return {
    ...{ check, tests, output: "" },
    event: {
      ...{
        type,
        iteration,
        command,
        hidden: true as const,
        exitCode: passed ? 0 : null,
        signal: null,
        timedOut: false,
      },
      ...{ passed, durationMs, log: "", output: "" },
      ...(!passed && { why: "hidden: agents see only its result" }),
    },
  };
}

/** Runs the checks, and where all of them passed and decide, the hidden ones. The results are of both. */
export async function* runAllChecks(checks: Check[], setup: ChecksSetup, verify: Verification): Results {
  const results = yield* runChecks(checks, setup, verify);
  if (results === undefined || results.some(hasFailed) || verify.tree === undefined) return results;
  const hidden = yield* runHidden({ ...setup, after: results.length }, verify);
  return hidden && [...results, ...hidden];
}

/** Runs the hidden checks alone. */
export async function* runHidden(setup: ChecksSetup, verify: Verification): Results {
  const { hiddenChecks = [], ...others } = setup;
  return hiddenChecks.length === 0
    ? []
    : yield* runChecks(hiddenChecks, { ...others, schedule: undefined }, verify);
}
