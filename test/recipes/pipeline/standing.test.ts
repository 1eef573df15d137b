import { describe, expect, it } from "vitest";
import { statePrompt } from "../../../src/recipes/pipeline/prompt.js";
import {
  asMemory,
  failed,
  firstStanding,
  passed,
  resumed,
  standingIn,
} from "../../../src/recipes/pipeline/standing.js";
import { stateText } from "../../../src/recipes/pipeline/state-file.js";
import { tellingLine } from "../../../src/recipes/pipeline/telling.js";
import { tallyOf } from "../../../src/verify/no-tests.js";

const NOW = new Date(2026, 0, 26, 18, 55, 0);
const state = {
  name: "A",
  goal: "Do A.",
  command: "check a",
  exitCode: 0,
  onFail: "Mend a.",
  onPass: "B",
  agent: "on-fail" as const,
  timeoutMs: 1000,
};
const FAILURE = { command: "check a", how: "exit code 1", output: "a is wrong" };
const first = firstStanding([state], NOW);

describe("where a pipeline stands", () => {
  it("is written down for people, with every transition", () => {
    expect(stateText(passed(first, state, NOW))).toBe(`# RALPH State

current_state: B
retry_count: 0
history:
  - 2026-01-26T18:55:00 | INIT -> A
  - 2026-01-26T18:55:00 | A -> B (gate passed)
`);
  });

  it("counts failures, and ends in the gutter at the last one", () => {
    const once = failed(first, FAILURE, { max: 2, hasTried: true }, NOW);
    expect(once).toMatchObject({ state: "A", retries: 1, inGutter: false, failures: [FAILURE] });
    const twice = failed(once, FAILURE, { max: 2, hasTried: true }, NOW);
    expect(twice).toMatchObject({ state: "A", retries: 2, inGutter: true });
    expect(twice.history.at(-1)).toBe("2026-01-26T18:55:00 | A -> GUTTER (max retries exhausted)");
    expect(passed(once, state, NOW)).toMatchObject({ state: "B", retries: 0, failures: [] });
  });

  it("with no retry the first failure ends in the gutter, with one an agent tries once", () => {
    expect(failed(first, FAILURE, { max: 0, hasTried: false }, NOW)).toMatchObject({
      retries: 1,
      inGutter: true,
    });
    const looked = failed(first, FAILURE, { max: 1, hasTried: false }, NOW);
    expect(looked).toMatchObject({ retries: 1, inGutter: false });
    expect(failed(looked, FAILURE, { max: 1, hasTried: true }, NOW)).toMatchObject({
      retries: 1,
      inGutter: true,
    });
  });

  it("begins the state anew when it is resumed from the gutter, and says so", () => {
    const stuck = failed(first, FAILURE, { max: 1, hasTried: true }, NOW);
    const again = resumed(stuck, NOW);
    expect(again).toMatchObject({ state: "A", retries: 0, inGutter: false, isMended: true });
    expect(again.history.at(-1)).toBe("2026-01-26T18:55:00 | GUTTER -> A (resumed, retries reset)");
    expect(resumed(first, NOW)).toBe(first);
  });

  it("comes back from the journal as it was", () => {
    const standing = failed(first, FAILURE, { max: 3, hasTried: true }, NOW);
    expect(standingIn(asMemory(standing))).toEqual(standing);
  });

  it.each([undefined, null, "x", [], {}, { state: 1, retries: 0 }])("bears a journal with %j", (memory) => {
    expect(standingIn(memory)).toBeUndefined();
  });
});

describe("the prompt of a retry", () => {
  const prompt = statePrompt({
    state,
    standing: failed(first, FAILURE, { max: 3, hasTried: true }, NOW),
    maxRetries: 3,
    specFile: "s.md",
    prpFile: "p.md",
    instruction: { file: ".ralph/check-instruction.md", text: "Write it so." },
  });

  it("holds the goal, what the gate said, what to do, the instruction and the constraint", () => {
    expect(prompt.match(/^#+ .*$/gm)).toEqual([
      "# A",
      "## The gate",
      "## What the gate said",
      "### check a",
      "## What to do about it",
      "## Instruction",
      "## Constraint",
    ]);
    for (const text of [
      "Do A.",
      "It has failed 1 of at most 3 times",
      "a is wrong",
      "Mend a.",
      "Write it so.",
    ])
      expect(prompt).toContain(text);
    expect(prompt).toContain("Fix only what the gate names, and nothing else.");
  });
});

describe("the line that tells most", () => {
  const line = (output: string, passed = false) =>
    tellingLine({ passed, timedOut: false, timeoutMs: 0, output, tests: tallyOf(output), why: undefined });

  it.each([
    ["a\nFAILED tests/test_a.py::test_b - boom\n1 failed", "FAILED tests/test_a.py::test_b - boom"],
    ["collected 0 items / 1 error\nERROR tests/test_a.py\n1 error", "ERROR tests/test_a.py"],
    ["# x\nnot ok 2 - b\n# fail 1", "not ok 2 - b"],
    ["s.md:3: error: no problem\n❌ stress-test failed: 1 finding", "s.md:3: error: no problem"],
    ["something else\nthe end", "the end"],
    ["", "❌ it printed nothing"],
  ])("of a failed gate that said %j is %j", (output, expected) => {
    expect(line(output)).toBe(expected);
  });

  it("of a gate that passed is its last one, or that all tests passed", () => {
    expect(line("w\n✅ PRP validation passed\n", true)).toBe("✅ PRP validation passed");
    expect(line("==== 3 passed in 0.1s ====", true)).toBe("✅ All tests passed");
  });

  it("of a gate that hung is how long it was waited for", () => {
    const told = tellingLine({
      ...{ passed: false, timedOut: true, timeoutMs: 2000, output: "x", why: undefined },
      tests: tallyOf("x"),
    });
    expect(told).toBe("❌ timed out after 2.0s");
  });
});
