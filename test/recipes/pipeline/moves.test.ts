import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  asMemory,
  failed,
  firstPosition,
  type PipelinePosition,
  passed,
  positionIn,
  resumed,
  stateText,
} from "../../../src/recipes/pipeline/moves.js";
import { statePrompt } from "../../../src/recipes/pipeline/prompt.js";
import { tellingLine } from "../../../src/recipes/pipeline/run-gate.js";
import type { PipelineState } from "../../../src/recipes/pipeline/spec.js";
import { tallyOf } from "../../../src/verify/no-tests.js";
import { temporaryFolder } from "../../kit.js";
import { SPEC, STATE } from "./kit.js";

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

  /** How often the gate fails until the gutter, and the last line of the history. */
  const untilGutter = (agent: PipelineState["agent"], max: number): [number, string | undefined] => {
    let position: PipelinePosition = first;
    let failures = 0;
    while (!position.inGutter) {
      position = failed(position, { ...state, agent }, FAILURE, max, NOW);
      failures += 1;
    }
    expect(position).toMatchObject({ state: "A", retries: Math.max(1, max), failures: [FAILURE] });
    return [failures, position.history.at(-1)];
  };

  it.each<[PipelineState["agent"], number[]]>([
    // The gate looks once more than agents try.
    ["on-fail", [1, 2, 3, 4]],
    ["before", [1, 1, 2, 3]],
    ["never", [1, 1, 2, 3]],
  ])("with agents %s, 0, 1, 2 and 3 retries are %j failures", (agent, expected) => {
    const found = [0, 1, 2, 3].map((max) => untilGutter(agent, max));
    expect(found).toEqual(
      expected.map((failures) => [failures, "2026-01-26T18:55:00 | A -> GUTTER (max retries exhausted)"]),
    );
  });

  it("forgets the failures of a state that has passed", () => {
    const once = failed(first, state, FAILURE, 2, NOW);
    expect(once.history.at(-1)).toBe("2026-01-26T18:55:00 | A -> A (gate failed, retry 1/2)");
    expect(passed(once, state, NOW)).toMatchObject({ state: "B", retries: 0, failures: [] });
  });

  it("begins the state anew when it is resumed from the gutter, and says so", () => {
    const again = resumed(failed(first, state, FAILURE, 0, NOW), NOW);
    expect(again).toMatchObject({ state: "A", retries: 0, inGutter: false, isMended: true });
    expect(again.history.at(-1)).toBe("2026-01-26T18:55:00 | GUTTER -> A (resumed, retries reset)");
  });

  it("comes back from the journal as it was", () => {
    const position = failed(first, state, FAILURE, 3, NOW);
    expect(positionIn(asMemory(position))).toEqual(position);
  });

  it.each([undefined, null, "x", [], {}, { state: 1, retries: 0 }])("bears a journal with %j", (memory) => {
    expect(positionIn(memory)).toBeUndefined();
  });
});

describe("the prompt of a retry", () => {
  it("holds the goal, what the gate said, what to do, the instruction and the constraint", () => {
    const workspace = temporaryFolder();
    mkdirSync(join(workspace, ".ralph"));
    writeFileSync(join(workspace, ".ralph/check-instruction.md"), "Write it so.");
    const gate = { ...state, command: "ralph gate check p.md" };
    const position = failed(first, gate, FAILURE, 3, NOW);
    const prompt = statePrompt({ ...SPEC, maxGateRetries: 3, states: [gate] }, workspace, gate, position);
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
      "Spec: s.md. PRP: p.md.",
      "It has failed 1 of at most 3 times",
      "a is wrong",
      "Mend a.",
      "From .ralph/check-instruction.md:",
      "Write it so.",
      "Fix only what the gate names, and nothing else.",
    ])
      expect(prompt).toContain(text);
  });
});

describe("the line that tells most", () => {
  const line = (output: string, passed = false, timedOut = false) =>
    tellingLine(
      { timeoutMs: 2000 },
      { event: { passed, timedOut }, output, tests: tallyOf(output) },
      undefined,
    );

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
    expect(line("x", false, true)).toBe("❌ timed out after 2.0s");
  });
});
