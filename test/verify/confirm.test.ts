import { expect, it } from "vitest";
import type { CheckFinished, LoopEventBody } from "../../src/events.js";
import { type Check, notRun } from "../../src/verify/check.js";
import { runChecks } from "../../src/verify/schedule.js";

const { signal } = new AbortController();
const SETUP = { workspace: "/", env: {}, redact: (text: string): string => text };
const FILES = new Map<string, string>();
const TREE = { own: new Set<string>(), read: async () => ({ word: "", content: "", files: () => FILES }) };
const VERIFY = { iteration: 1, stop: signal, kill: signal };

/** A check that exits with these codes, one after the other, and then with the last one. */
function exits(codes: number[], more: Partial<Check> = {}): Check & { ran: () => number } {
  let ran = 0;
  const check: Check = {
    ...{ command: `exits ${codes.join(" ")}`, timeoutMs: 1, ...more },
    async judge() {
      const exitCode = codes[Math.min(ran++, codes.length - 1)] ?? 0;
      const { event, ...result } = notRun(check, 1, "unchanged");
      const { skipped: _, ...ended } = event;
      return { ...result, event: { ...ended, exitCode, passed: exitCode === 0 } };
    },
  };
  return Object.assign(check, { ran: () => ran });
}

async function drained<Result>(running: AsyncGenerator<LoopEventBody, Result>) {
  const events: LoopEventBody[] = [];
  let step = await running.next();
  for (; !step.done; step = await running.next()) events.push(step.value);
  return { events, result: step.value };
}

type Ended = Pick<CheckFinished, "passed"> & Partial<Pick<CheckFinished, "flaky" | "why">>;

async function ends(checks: Check[], confirm: number): Promise<Ended[] | undefined> {
  const { result } = await drained(runChecks(checks, { ...SETUP, confirm }, { ...VERIFY, tree: TREE }));
  return result?.map(({ event: { passed, flaky, why } }) => ({
    passed,
    ...(flaky && { flaky }),
    ...(why && { why }),
  }));
}

const WHY = "flaky: passed, then exit code 3 on the same files";

it("runs all checks again, so many times, when all of them passed", async () => {
  const checks = [exits([0]), exits([0])];
  expect(await ends(checks, 2)).toEqual([{ passed: true }, { passed: true }]);
  expect(checks.map(({ ran }) => ran())).toEqual([3, 3]);
});

it("calls a check flaky that passes and then fails on the same files, and goes no further", async () => {
  const checks = [exits([0, 0, 3]), exits([0])];
  expect(await ends(checks, 9)).toEqual([
    { passed: false, flaky: ["passed", "exit code 3"], why: WHY },
    { passed: true },
  ]);
  expect(checks.map(({ ran }) => ran())).toEqual([3, 3]);
});

it("tries a check again that is known to be flaky, and says so", async () => {
  const known = exits([1, 0], { flaky: "retry" });
  expect(await ends([known], 1)).toEqual([{ passed: true, flaky: ["exit code 1", "passed"] }]);
  const broken = exits([1], { flaky: "retry" });
  expect(await ends([broken], 1)).toEqual([{ passed: false }]);
  expect(broken.ran()).toBe(3);
  const later = exits([0, 1, 0], { flaky: "retry" });
  expect(await ends([later], 1)).toEqual([{ passed: true, flaky: ["exit code 1", "passed"] }]);
  const never = exits([0, 1], { flaky: "retry" });
  expect(await ends([never], 1)).toMatchObject([{ passed: false, flaky: ["passed", "exit code 1"] }]);
});
