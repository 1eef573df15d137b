import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckFinished, LoopEventBody } from "../../src/events.js";
import { type Job, runJobs, type Turn } from "../../src/verify/schedule.js";
import { createSchedule, type Speed } from "../../src/verify/speed.js";
import { temporaryFolder } from "../kit.js";

function finished(command: string, iteration: number, passed: boolean): CheckFinished {
  const exit = { exitCode: passed ? 0 : 1, signal: null, timedOut: false, passed };
  return { type: "check.finished", iteration, command, ...exit, durationMs: 1, log: "", output: "" };
}

/** A project whose checks pass or fail as told, and that remembers what was done in which order. */
function place(speed: Speed) {
  const root = temporaryFolder();
  const [workspace, records] = [join(root, "project"), join(root, "records")];
  for (const folder of [workspace, records, join(workspace, "src")]) mkdirSync(folder);
  const write = (path: string, content: string): void => writeFileSync(join(workspace, path), content);
  write("src/a", "1");
  let schedule = createSchedule(speed, { workspace, records });
  const [stop, kill] = [new AbortController(), new AbortController()];
  const verify = async (checks: Record<string, boolean>, more: Partial<Turn> = {}, jobs?: Job[]) => {
    const turn = { iteration: 1, stop: stop.signal, kill: kill.signal, ...more };
    const own = Object.entries(checks).map(([command, passed]): Job => {
      return { command, run: async () => finished(command, turn.iteration, passed) };
    });
    const events: LoopEventBody[] = [];
    const run = runJobs(jobs ?? own, schedule, turn);
    let step = await run.next();
    for (; !step.done; step = await run.next()) events.push(step.value);
    return { said: events.map(said), results: step.value?.map(said) };
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

  it("all run for a baseline", async () => {
    const { verify } = place({ failFast: true });
    expect((await verify({ a: false, b: true }, { iteration: 0 })).results).toEqual(["a failed", "b passed"]);
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

  it("is run each time where no file is meant, and where its own patterns changed", async () => {
    const { verify } = place({ inputs: { a: ["scr/**"] } });
    for (let time = 0; time < 2; time += 1) expect((await verify({ a: true })).results).toEqual(["a passed"]);
    const job = (inputs: string[]): Job[] => [
      { command: "g", inputs, run: async () => finished("g", 1, true) },
    ];
    expect((await verify({}, {}, job(["src"]))).results).toEqual(["g passed"]);
    expect((await verify({}, {}, job(["src"]))).results).toEqual(["g unchanged"]);
    expect((await verify({}, {}, job(["src", "x"]))).results).toEqual(["g passed"]);
  });
});

describe("checks in parallel", () => {
  it("run so many at a time, end as they end, and are told in their order", async () => {
    const { verify } = place({ parallel: 2 });
    const ends = new Map<string, () => void>();
    let atWork = 0;
    let most = 0;
    const job = (command: string): Job => ({
      command,
      async run() {
        atWork += 1;
        most = Math.max(most, atWork);
        await new Promise<void>((resolve) => ends.set(command, resolve));
        atWork -= 1;
        return finished(command, 1, command !== "b");
      },
    });
    const run = verify({}, {}, ["a", "b", "c"].map(job));
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
    let ended = false;
    const job: Job = {
      command: "a",
      run: (kill) =>
        new Promise((resolve) =>
          kill.addEventListener("abort", () => {
            ended = true;
            resolve(finished("a", 1, false));
          }),
        ),
    };
    const schedule = createSchedule({ parallel: 9 }, { workspace: "/", records: temporaryFolder() });
    const never = new AbortController().signal;
    const run = runJobs([job, job], schedule, { iteration: 1, stop: never, kill: never });
    await run.next();
    await run.next();
    await run.return(undefined);
    expect(ended).toBe(true);
    stop.abort();
    expect(await verify({ a: true })).toEqual({ said: [], results: undefined });
  });
});
