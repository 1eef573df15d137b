import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEventBody } from "../../src/events.js";
import type { Verification } from "../../src/tree.js";
import { type Check, type CheckResult, notRun } from "../../src/verify/check.js";
import { runChecks } from "../../src/verify/schedule.js";
import { createSchedule, type Speed } from "../../src/verify/speed.js";
import { eventually, isAlive, temporaryFolder } from "../kit.js";

function resultOf(check: Check, passed: boolean): CheckResult {
  const result = notRun(check, 1, "unchanged");
  const { skipped: _, ...event } = result.event;
  return { ...result, event: { ...event, passed } };
}

/** A check that is no process. */
function stub(command: string, passed: boolean, inputs?: string[]): Check {
  const check: Check = { command, timeoutMs: 1, inputs, judge: async () => resultOf(check, passed) };
  return check;
}

const SETUP = { env: process.env, redact: (text: string): string => text };

/** A project whose checks pass or fail as told, and that remembers what was done in which order. */
function place(speed: Speed) {
  const root = temporaryFolder();
  const [workspace, records] = [join(root, "project"), join(root, "records")];
  for (const folder of [workspace, records, join(workspace, "src")]) mkdirSync(folder);
  const write = (path: string, content: string): void => writeFileSync(join(workspace, path), content);
  write("src/a", "1");
  let schedule = createSchedule(speed, { workspace, records });
  const [stop, kill] = [new AbortController(), new AbortController()];
  const verify = async (
    checks: Record<string, boolean> | Check[],
    more: Partial<Verification> = {},
  ): Promise<{ said: string[]; results: string[] | undefined }> => {
    const all = Array.isArray(checks) ? checks : Object.entries(checks).map(([name, ok]) => stub(name, ok));
    const events: LoopEventBody[] = [];
    const context = { iteration: 1, stop: stop.signal, kill: kill.signal, ...more };
    const run = runChecks(all, { ...SETUP, workspace, schedule }, context);
    let step = await run.next();
    for (; !step.done; step = await run.next()) events.push(step.value);
    return { said: events.map(said), results: step.value?.map(({ event }) => said(event)) };
  };
  /** As after a crash or a resume. */
  const again = (): void => {
    schedule = createSchedule(speed, { workspace, records });
  };
  return { verify, write, stop, kill, again };
}

function said(event: LoopEventBody): string {
  if (event.type === "check.started") return `${event.command}?`;
  if (event.type !== "check.finished") return event.type;
  return `${event.command} ${event.skipped ?? (event.passed ? "passed" : "failed")}`;
}

describe("checks that fail fast", () => {
  it("begin with the one that failed last time, and end with one that fails", async () => {
    const { verify, again } = place({ failFast: true });
    expect(await verify({ a: true, b: false, c: true })).toEqual({
      said: ["a?", "a passed", "b?", "b failed", "c after_failure"],
      results: ["a passed", "b failed", "c after_failure"],
    });
    again();
    expect(await verify({ a: true, b: false, c: true })).toEqual({
      said: ["b?", "b failed", "a after_failure", "c after_failure"],
      results: ["a after_failure", "b failed", "c after_failure"],
    });
    expect((await verify({ a: true, b: true, c: false })).said).toEqual([
      "b?",
      "b passed",
      "a?",
      "a passed",
      "c?",
      "c failed",
    ]);
    expect((await verify({ a: true, b: true, c: true })).said[0]).toBe("c?");
  });
});

describe("a check with inputs", () => {
  it("is not run again while they are what they were when it passed", async () => {
    const { verify, write, again } = place({ inputs: { a: ["src/**"] } });
    const both = ["a passed", "b passed"];
    expect((await verify({ a: true, b: true })).results).toEqual(both);
    expect((await verify({ a: true, b: true })).results).toEqual(["a unchanged", "b passed"]);
    again();
    expect((await verify({ a: true, b: true })).results).toEqual(["a unchanged", "b passed"]);
    write("other", "1");
    expect((await verify({ a: true, b: true })).results).toEqual(["a unchanged", "b passed"]);
    write("src/a", "2");
    expect((await verify({ a: false, b: true })).results).toEqual(["a failed", "b passed"]);
    expect((await verify({ a: true, b: true })).results).toEqual(both);
    write("src/new", "1");
    expect((await verify({ a: true, b: true })).results).toEqual(both);
    expect((await verify({ a: true, b: true })).said).toEqual(["a unchanged", "b?", "b passed"]);
  });
});

describe("checks in parallel", () => {
  it("run so many at a time, end as they end, and are told in their order", async () => {
    const { verify } = place({ parallel: 2 });
    const ends = new Map<string, () => void>();
    let atWork = 0;
    let most = 0;
    const held = (command: string): Check => ({
      ...stub(command, true),
      async judge() {
        atWork += 1;
        most = Math.max(most, atWork);
        await new Promise<void>((resolve) => ends.set(command, resolve));
        atWork -= 1;
        return resultOf(stub(command, true), command !== "b");
      },
    });
    const run = verify(["a", "b", "c"].map(held));
    const end = async (command: string): Promise<void> => {
      while (!ends.has(command)) await new Promise((resolve) => setImmediate(resolve));
      ends.get(command)?.();
    };
    for (const command of ["b", "c", "a"]) await end(command);
    expect(await run).toEqual({
      said: ["a?", "b?", "b failed", "c?", "c passed", "a passed"],
      results: ["a passed", "b failed", "c passed"],
    });
    expect(most).toBe(2);
  });

  it("are ended when nobody listens any more, and none is started after a signal", async () => {
    const { verify, stop } = place({ parallel: true });
    const folder = temporaryFolder();
    const schedule = createSchedule({ parallel: 9 }, { workspace: folder, records: folder });
    const never = new AbortController().signal;
    const check = { command: "echo $$ > pid; exec sleep 60", timeoutMs: 60_000 };
    const context = { iteration: 1, stop: never, kill: never };
    const run = runChecks([check, check], { ...SETUP, workspace: folder, schedule }, context);
    await run.next();
    await run.next();
    const pid = (): string =>
      existsSync(join(folder, "pid")) ? readFileSync(join(folder, "pid"), "utf8") : "";
    await eventually(() => pid().endsWith("\n"));
    await run.return(undefined);
    expect(isAlive(Number(pid()))).toBe(false);
    stop.abort();
    expect(await verify({ a: true })).toEqual({ said: [], results: undefined });
  });
});
