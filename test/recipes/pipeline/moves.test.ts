import { describe, expect, it } from "vitest";
import type { CheckFinished } from "../../../src/events.js";
import {
  failed,
  firstPosition,
  passed,
  positionIn,
  resumed,
  stateText,
} from "../../../src/recipes/pipeline/moves.js";
import { tellingLine } from "../../../src/recipes/pipeline/run-gate.js";
import type { PipelineState } from "../../../src/recipes/pipeline/spec.js";
import { tallyOf } from "../../../src/verify/no-tests.js";
import { STATE } from "./kit.js";

const NOW = new Date(2026, 0, 26, 18, 55, 0);
const state: PipelineState = {
  ...STATE,
  ...{ goal: "Do A.", command: "check a", onFail: "Mend a.", onPass: "B", agent: "on-fail" },
};
const FAILURE = { command: "check a", how: "exit code 1", output: "a is wrong" };
const first = firstPosition([state], NOW);

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

  it("begins the state anew when it is resumed from the gutter, and says so", () => {
    const again = resumed(failed(first, state, FAILURE, 0, NOW), NOW);
    expect(again).toMatchObject({ state: "A", retries: 0, inGutter: false, isMended: true });
    expect(again.history.at(-1)).toBe("2026-01-26T18:55:00 | GUTTER -> A (resumed, retries reset)");
  });

  it.each([undefined, null, "x", [], {}, { state: 1, retries: 0 }])("bears a journal with %j", (memory) => {
    expect(positionIn(memory)).toBeUndefined();
  });
});

it.each([
  ["FAILED tests/test_a.py::test_b - boom", "a\nFAILED tests/test_a.py::test_b - boom\n1 failed"],
  ["ERROR tests/test_a.py", "collected 0 items / 1 error\nERROR tests/test_a.py\n1 error"],
  ["not ok 2 - b", "# x\nnot ok 2 - b\n# fail 1"],
  ["s.md:3: error: no problem", "s.md:3: error: no problem\n❌ stress-test failed: 1 finding"],
])("%j tells most of %j", (expected, output) => {
  const event = { passed: false, timedOut: false } as CheckFinished;
  expect(tellingLine(STATE, { event, output, tests: tallyOf(output) }, undefined)).toBe(expected);
});
