import { beforeEach, describe, expect, it } from "vitest";
import type { LoopEventBody } from "../../../src/events.js";
import type { Answer, Recipe, Verdict } from "../../../src/loop/recipe.js";
import { asChecks } from "../../../src/recipes/checks.js";
import type { ChecksSpec } from "../../../src/recipes/task/loop-style.js";
import { taskRecipe } from "../../../src/recipes/task/task.js";
import { createRedactor } from "../../../src/records/redact.js";
import { temporaryFolder } from "../../kit.js";

const checks = (...commands: string[]) => asChecks(commands, 20_000);
const SECRET = "topsecret-0123456789";
const SPEC: ChecksSpec = {
  kind: "checks",
  task: "t",
  checks: checks("true"),
  completionTag: "COMPLETE",
};
const ANSWER: Answer = { finalMessage: "COMPLETE", error: null, costUsd: 0.5, durationMs: 100, steps: 2 };

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

function recipe(spec: Partial<ChecksSpec> = {}): Recipe {
  return taskRecipe(
    { ...SPEC, ...spec },
    {
      workspace: folder,
      records: folder,
      env: process.env,
      redact: createRedactor({ MY_API_KEY: SECRET }),
      folderFor: () => folder,
      ...{ base: undefined, hidden: [], newPrograms: undefined, kill: new AbortController().signal },
      askForCommitMessage: async () => ({ text: "" }),
    },
  );
}

interface Verified {
  verdict: Verdict | undefined;
  events: LoopEventBody[];
}

async function verify(
  spec: Partial<ChecksSpec>,
  answer: Partial<Answer> = {},
  signals = { stop: new AbortController(), kill: new AbortController() },
): Promise<Verified> {
  const context = { iteration: 1, stop: signals.stop.signal, kill: signals.kill.signal };
  const verifying = recipe(spec).verify({ ...ANSWER, ...answer }, context);
  const events: LoopEventBody[] = [];
  for (;;) {
    const step = await verifying.next();
    if (step.done) return { verdict: step.value, events };
    events.push(step.value);
  }
}

describe("the verdict", () => {
  it("is told apart by the way of failing, not by numbers that change", async () => {
    const failureOf = async (command: string) => (await verify({ checks: checks(command) })).verdict?.failure;
    const one = await failureOf("echo took 17 ms; exit 1 # a");
    expect(await failureOf("echo took 23 ms; exit 1 # a")).toBe(one);
    expect(await failureOf("echo else; exit 1 # a")).not.toBe(one);
  });
});

describe("the checks", () => {
  it("prove nothing when they were ended by a signal to ralph", async () => {
    const signals = { stop: new AbortController(), kill: new AbortController() };
    signals.stop.abort();
    expect(await verify({}, {}, signals)).toEqual({ verdict: undefined, events: [] });
    const late = { stop: new AbortController(), kill: new AbortController() };
    late.kill.abort();
    expect((await verify({ checks: checks("exit 0") }, {}, late)).verdict).toBeUndefined();
  });
});

describe("the prompt", () => {
  const plan = async (iteration: number, memory?: Verdict["memory"], spec: Partial<ChecksSpec> = {}) =>
    (await recipe(spec).plan({ iteration, maxIterations: 5, memory, answered: false })).prompt;

  it.each([
    undefined,
    null,
    "text",
    [],
    { failures: "x", error: 3 },
    { failures: [null, 1, "x", [], { command: "a" }, { command: "a", how: 1, output: "" }] },
  ])("bears a memory that is damaged: %j", async (memory) => {
    expect(String(await plan(2, memory)).match(/^## .*$/gm)).toEqual(["## Iteration 2 of 5"]);
  });
});
