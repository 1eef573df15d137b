import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FunctionAgent, type LoopSpec, RalphLoop, type RalphLoopResult } from "../../src/index.js";
import { createProject, type Project } from "../kit.js";

const DONE = { finalOutput: "COMPLETE" };

function run(p: Project, agent: FunctionAgent, more: Partial<LoopSpec> = {}): Promise<RalphLoopResult> {
  const config = { task: "t", checks: ["test -f ok"], workspaceRoot: p.dir, home: join(p.home, ".ralph") };
  return new RalphLoop({ ...config, ...more }, agent).run();
}

/** Answers that types would forbid. */
function untyped(answer: unknown): FunctionAgent {
  return (() => answer) as FunctionAgent;
}

test("the result has every field of every iteration", async () => {
  const p = createProject();
  const result = await run(p, async (_prompt, { iteration }) => {
    if (iteration === 2) p.write("ok", "");
    return { finalOutput: iteration === 2 ? "COMPLETE" : "not yet", cost: 0.25, steps: iteration };
  });
  const seconds = expect.any(Number) as number;
  const check = { name: "test -f ok", output: "", signal: null, timedOut: false };
  expect(result).toEqual({
    iterations: [
      {
        iteration: 1,
        stepsTaken: 1,
        cost: 0.25,
        duration: seconds,
        checkResults: [{ ...check, passed: false, exitCode: 1 }],
        allChecksPassed: false,
        completionTagFound: false,
        error: null,
      },
      {
        iteration: 2,
        stepsTaken: 2,
        cost: 0.25,
        duration: seconds,
        checkResults: [{ ...check, passed: true, exitCode: 0 }],
        allChecksPassed: true,
        completionTagFound: true,
        error: null,
      },
    ],
    totalIterations: 2,
    totalCost: 0.5,
    totalDuration: seconds,
    success: true,
    stopReason: "all_checks_passed",
    worktreePath: "",
  });
  expect(result.totalDuration).toBeGreaterThan(0);
});

test("a function gets the prompt, the iteration, the workspace and a signal, and both sides are recorded", async () => {
  const p = createProject();
  const heard: unknown[] = [];
  await run(
    p,
    (prompt, { iteration, workspace, signal }) => {
      heard.push([prompt.includes("TASK-TEXT"), iteration, workspace, signal.aborted]);
      return DONE;
    },
    { task: "TASK-TEXT", checks: ["true"] },
  );
  expect(heard).toEqual([[true, 1, p.dir, false]]);
  const folder = join(p.runFolder(), "iterations", "001");
  expect(readFileSync(join(folder, "prompt.md"), "utf8")).toContain("TASK-TEXT");
  expect(readFileSync(join(folder, "agent.log"), "utf8")).toBe("COMPLETE");
});

test.each<[string, FunctionAgent, string]>([
  ["throws", () => fail(new Error("no key")), "no key"],
  ["rejects with nothing", async () => fail(undefined), "it threw undefined"],
  ["rejects with an object", async () => fail({ status: 500 }), "it threw { status: 500 }"],
  [
    "answers nothing",
    untyped(undefined),
    "the function answered undefined: expected { finalOutput, cost?, steps? }",
  ],
  ["answers an empty object", untyped({}), "the function answered finalOutput undefined: expected text"],
  ...[Number.NaN, -1, Number.POSITIVE_INFINITY].map((cost): [string, FunctionAgent, string] => [
    `costs ${cost}`,
    untyped({ ...DONE, cost }),
    `the function answered cost ${cost}: expected a number of USD, 0 or more`,
  ]),
  [
    "took no number of steps",
    untyped({ ...DONE, steps: Number.NaN }),
    "the function answered steps NaN: expected a number, 0 or more",
  ],
])("a function that %s has failed, and its iteration says why", async (_what, agent, error) => {
  const p = createProject();
  p.write("ok", "");
  const result = await run(p, agent, { maxCost: 1, limits: { maxFailures: 1 } });
  expect(result).toMatchObject({
    success: false,
    stopReason: "agent_failed",
    totalCost: 0,
    iterations: [{ error, cost: 0, allChecksPassed: true, completionTagFound: false }],
  });
});

function fail(error: unknown): never {
  throw error;
}

const never: FunctionAgent = () => new Promise(() => {});

test("a function that never answers is not waited for when the time is up", async () => {
  const p = createProject();
  const result = await run(p, never, { maxTime: 0.2 });
  expect(result).toMatchObject({
    stopReason: "timeout",
    totalIterations: 1,
    iterations: [{ error: "the time limit was reached" }],
  });
});

test("a function that ends when it is told can still say what it cost", async () => {
  const p = createProject();
  const agent: FunctionAgent = (_prompt, { signal }) =>
    new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve({ finalOutput: "COMPLETE", cost: 0.3 })),
    );
  p.write("ok", "");
  const result = await run(p, agent, { limits: { iterationTimeoutMs: 50, maxFailures: 1 } });
  expect(result).toMatchObject({
    success: false,
    totalCost: 0.3,
    iterations: [{ error: "the iteration timeout was reached", cost: 0.3 }],
  });
});

test("a message without an end does not fill the journal", async () => {
  const p = createProject();
  p.write("ok", "");
  await run(p, () => ({ finalOutput: `${"x".repeat(5_000_000)}\nCOMPLETE` }));
  expect(readFileSync(join(p.runFolder(), "journal.ndjson")).length).toBeLessThan(100_000);
});
