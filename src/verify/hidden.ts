import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeAlone } from "../records/files.js";
import type { Verification } from "../tree.js";
import type { Check, CheckResult } from "./check.js";
import { hasFailed } from "./check.js";
import { type ChecksSetup, type Results, runChecks } from "./schedule.js";

/** A check that agents do not know. Its command is in no record: ralph keeps it in memory alone. */
export interface HiddenCheck {
  name?: string | undefined;
  command: string;
  timeoutMs: number;
}

/** What agents, events and reports call it. */
export function hiddenName({ name }: Pick<HiddenCheck, "name">, index: number): string {
  return name ?? `hidden check ${index + 1}`;
}

export type HiddenChecks = ReturnType<typeof createHidden>;

/** The hidden checks of a run. What they print is written into `records` when no agent of the run is at work any more. */
export function createHidden(given: HiddenCheck[], records: string) {
  const said = new Map<string, string>();
  const logOf = (index: number): string => join(records, `hidden-check-${index + 1}.log`);
  const checks = given.map((one, index): Check => {
    const name = hiddenName(one, index);
    return {
      ...{ command: name, script: one.command, timeoutMs: one.timeoutMs },
      async judge(run) {
        const result = await run();
        said.set(name, result.output);
        return masked(result);
      },
    };
  });
  // Those of an earlier process are for people, and not for the next agent.
  for (const index of given.keys()) rmSync(logOf(index), { force: true });
  return {
    checks,
    run: runHidden,
    /** The command behind a name. */
    commandOf: (name: string): string | undefined =>
      given[checks.findIndex(({ command }) => command === name)]?.command,
    /** Writes what they printed last. */
    writeLogs(): void {
      for (const [index, { command }] of checks.entries()) {
        const output = said.get(command);
        if (output !== undefined) writeAlone(logOf(index), output, 0o600);
      }
    },
    /** The log of the one with this name, once it is written. */
    logOf: (name: string): string => logOf(checks.findIndex(({ command }) => command === name)),
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
      ...(!passed && { why: "it is hidden: only its result is told" }),
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
