import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PipelineSpec } from "../../../src/recipes/pipeline/pipeline.js";
import type { PipelineState } from "../../../src/recipes/pipeline/pipeline-state.js";
import { type GateRun, runGate } from "../../../src/recipes/pipeline/run-gate.js";
import {
  firstSealed,
  isPipelineAsSeen,
  NOT_SEALED,
  sealedAfter,
  sealedByHand,
  sealedIn,
  whatWasChanged,
} from "../../../src/recipes/pipeline/sealed.js";
import { whatWasWeakened } from "../../../src/recipes/pipeline/weakened.js";
import { temporaryFolder } from "../../kit.js";

const STATE: PipelineState = {
  name: "A",
  goal: "",
  command: "true",
  exitCode: 0,
  onFail: "",
  onPass: "COMPLETE",
  agent: "never",
  timeoutMs: 9000,
};

const SPEC: PipelineSpec = {
  kind: "pipeline",
  specFile: "s",
  prpFile: "p",
  maxGateRetries: 1,
  states: [STATE],
  dirty: [],
};

async function run(
  change: Partial<PipelineState>,
  kill = new AbortController(),
  hasTests = false,
): Promise<GateRun | undefined> {
  const state = { ...STATE, ...change };
  const spec = { ...SPEC, states: [state] };
  const workspace = temporaryFolder();
  const context = {
    workspace,
    env: process.env,
    redact: (text: string) => text,
    records: workspace,
    folderFor: () => workspace,
    gateEnv: () => ({ RALPH_STATE: "A" }),
    patch: async () => undefined,
  };
  const gate = runGate({ spec, state, hasTests, sealed: NOT_SEALED }, context, {
    iteration: 1,
    stop: kill.signal,
    kill: kill.signal,
  });
  let step = await gate.next();
  while (!step.done) step = await gate.next();
  if (step.value !== undefined) expect(step.value.check.log).toBe(join(workspace, "gate-A.log"));
  return step.value;
}

it.each<[string, Partial<PipelineState>, boolean, string]>([
  ["exits 0", { command: "echo fine" }, true, "fine"],
  ["exits with something else", { command: "echo bad; exit 3" }, false, "bad"],
  ["exits as it should", { command: "exit 3", exitCode: 3 }, true, "✅ passed"],
  ["exits 0 where it should not", { command: "true", exitCode: 3 }, false, "❌ it printed nothing"],
  ["says what it has to", { command: "echo fine; echo great", output: "^great$" }, true, "great"],
  [
    "does not say it",
    { command: "echo greatest", output: "^great$" },
    false,
    "❌ the output does not match ^great$",
  ],
  [
    "found no tests",
    { command: "echo collected 0 items" },
    false,
    "❌ no tests were found: nothing was proved",
  ],
  [
    "ran only skipped tests",
    { command: "echo 3 skipped in 0.1s" },
    false,
    "❌ no tests were found: nothing was proved",
  ],
  [
    "is the test command, and shows no test",
    { command: "true", runsTests: true },
    false,
    "❌ its output shows no test that passed: nothing was proved (passCondition can name another proof)",
  ],
  [
    "is the test command, and shows another proof",
    { command: "echo fine", runsTests: true, output: "fine" },
    true,
    "fine",
  ],
  [
    "is the test command, and shows one",
    { command: "echo 1 passed", runsTests: true },
    true,
    "✅ All tests passed",
  ],
  [
    "is a runner that is not known",
    { command: "echo; echo All good", runsTests: true, unknownRunner: true },
    true,
    "⚠️ passed, but its output does not tell how many tests ran: All good",
  ],
  [
    "is one that says nothing",
    { command: "true", runsTests: true, unknownRunner: true },
    true,
    "⚠️ passed, but its output does not tell how many tests ran",
  ],
  [
    "is one that tells how many tests ran",
    { command: "echo 3 passed", runsTests: true, unknownRunner: true },
    true,
    "✅ All tests passed",
  ],
  [
    "is one that tells of none",
    { command: "echo No tests found", runsTests: true, unknownRunner: true },
    false,
    "❌ no tests were found: nothing was proved",
  ],
  ["is not there", { command: "no-such-gate" }, false, "/bin/sh: 1: no-such-gate: not found"],
  ["is killed", { command: "kill -9 $$" }, false, "❌ it printed nothing"],
  ["hangs", { command: "sleep 9", timeoutMs: 100 }, false, "❌ timed out after 0.1s"],
  ["knows its state", { command: 'echo "$RALPH_STATE"' }, true, "A"],
])("a gate that %s", async (_, change, passed, line) => {
  const gate = await run(change);
  expect({
    passed: gate?.passed,
    line: gate?.line.replace(/^.*(?=no-such-gate: not found)/, "/bin/sh: 1: "),
  }).toEqual({
    passed,
    line,
  });
});

it("does not run a gate after a signal", async () => {
  const kill = new AbortController();
  kill.abort();
  expect(await run({}, kill)).toBeUndefined();
});

it("does not pass a gate that ran tests before and runs none now", async () => {
  const gate = await run({ command: "true" }, undefined, true);
  expect(gate).toMatchObject({
    passed: false,
    line: "❌ it ran tests before, and none passes now: nothing was proved",
  });
});

it("does not pass a state when what earlier gates have passed is gone", async () => {
  const spec = { ...SPEC, states: [{ ...STATE, name: "CHECK_PRP", command: "ralph gate check p" }, STATE] };
  expect(await whatWasWeakened(spec, temporaryFolder(), STATE, undefined)).toBe(
    "the PRP is weaker than CHECK_PRP has seen it: it is gone",
  );
  expect(await whatWasWeakened(SPEC, temporaryFolder(), STATE, undefined)).toBeUndefined();
});

it("tells the agent why it failed, where the output does not", async () => {
  const gate = await run({ command: "echo fine", output: "great" });
  expect(gate?.check).toMatchObject({
    passed: false,
    exitCode: 0,
    output: "fine\n\nthe output does not match great",
  });
});

describe("what has passed its gate", () => {
  const gate = (name: string, command: string): PipelineState => ({ ...STATE, name, command });
  const states = {
    validate: gate("VALIDATE", "ralph gate validate s.md"),
    check: gate("CHECK_PRP", "ralph gate check p.md"),
    tests: gate("CHECK_TESTS", "./validate-tests.sh tests/"),
  };
  const spec: PipelineSpec = { ...SPEC, specFile: "s.md", prpFile: "p.md", states: Object.values(states) };
  const FILES = {
    "s.md": "## Success criteria\n\n- a\n- b\n",
    "p.md": "# PRP-1\n",
    "tests/test_a.py": "def test_a():\n    assert f()\n",
    "validate-tests.sh": "exit 1\n",
    "package.json": '{"scripts":{"test":"pytest"}}',
    Makefile: "all:\n\tcc a.c\ntest: all\n\tpytest\n",
    ".ralph/pipeline.yaml": "states: {}\n",
  };
  const project = (): string => {
    const folder = temporaryFolder();
    for (const [file, text] of Object.entries(FILES)) write(folder, file, text);
    return folder;
  };
  const write = (folder: string, file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const sealedIn3 = (folder: string) =>
    Object.values(states).reduce(
      (sealed, state) => sealedAfter(spec, folder, state, sealed, true),
      firstSealed(spec, folder),
    );

  it.each([
    ["s.md", "## Success criteria\n\n- a\n- c\n", "VALIDATE"],
    ["p.md", "# PRP-2\n", "CHECK_PRP"],
    ["tests/test_a.py", "def test_a():\n    assert 2\n", "CHECK_TESTS"],
    ["validate-tests.sh", "exit 0\n", "the run began"],
    ["package.json", '{"scripts":{"test":"true"}}', "CHECK_TESTS"],
    ["Makefile", "all:\n\tcc a.c\ntest: all\n\ttrue\n", "CHECK_TESTS"],
  ])("%s must not be changed by an agent", (file, text, since) => {
    const folder = project();
    const sealed = sealedIn(JSON.parse(JSON.stringify(sealedIn3(folder))));
    expect(whatWasChanged(spec, folder, sealed)).toBeUndefined();
    write(folder, file, text);
    const message = `${file} was changed since ${since}: put it back as it was`;
    expect(whatWasChanged(spec, folder, sealed)).toBe(message);
    // What an agent did counts as seen, and is no change by hand later.
    const seen = sealedAfter(spec, folder, STATE, sealed, false);
    expect(whatWasChanged(spec, folder, sealedByHand(spec, folder, seen))).toBe(message);
    expect(whatWasChanged(spec, folder, sealedByHand(spec, folder, sealed))).toBeUndefined();
  });

  it.each([
    ["Makefile", "test:\n\t@echo All good\n", "LINT"],
    ["check.sh", "exit 0\n", "LINT"],
    ["package.json", '{"scripts":{"test":"true"}}', "LINT"],
  ])("%s must not be changed where it is a runner that is not known", (file, text, since) => {
    const folder = project();
    write(folder, "Makefile", "test:\n\t@./check.sh\n");
    write(folder, "check.sh", "exit 1\n");
    const lint = { ...gate("LINT", "true"), onPass: "TEST" };
    const test = { ...gate("TEST", "make test"), runsTests: true, unknownRunner: true };
    const own = { ...spec, states: [lint, test] };
    const first = firstSealed(own, folder);
    const sealed = sealedAfter(own, folder, lint, first, true);
    write(folder, file, text);
    expect(whatWasChanged(own, folder, first)).toBeUndefined();
    expect(whatWasChanged(own, folder, sealed)).toBe(
      `${file} was changed since ${since}: put it back as it was`,
    );
  });

  it("is more than what decides over tests: the rest of such files may change", () => {
    const folder = project();
    const sealed = sealedIn3(folder);
    write(folder, "package.json", '{"scripts":{"build":"x","test":"pytest"},"dependencies":{"a":"1"}}');
    write(folder, "Makefile", "all: b\n\tcc a.c b.c\ntest: all\n\tpytest\n");
    write(folder, "tests/test_b.py", "");
    expect(whatWasChanged(spec, folder, sealed)).toBeUndefined();
  });

  it("keeps its criteria from the start on", () => {
    const folder = project();
    const sealed = firstSealed(spec, folder);
    write(folder, "s.md", "## Success criteria\n\n- a\n");
    expect(whatWasChanged(spec, folder, sealed)).toBe(
      "s.md had 2 success criteria, and 1 are left: drop none of them",
    );
  });

  it("knows whether the pipeline was changed after the last gate", () => {
    const folder = project();
    const sealed = firstSealed(spec, folder);
    expect(isPipelineAsSeen(folder, sealed)).toBe(true);
    rmSync(join(folder, ".ralph/pipeline.yaml"));
    expect(isPipelineAsSeen(folder, sealed)).toBe(false);
  });
});
