import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPipeline } from "../../../src/recipes/pipeline/pipeline-file.js";
import { temporaryFolder } from "../../kit.js";

const DEFAULT = readFileSync(join(import.meta.dirname, "../../../templates/pipeline.yaml"), "utf8");
const VALUES = { specFile: "specs/a b.md", prpFile: "PRPs/a.prp.md", testCommand: "npm test" };

const read = async (text: string) => (await readPipeline(text, "p.yaml", VALUES, temporaryFolder())).states;
const mistakeIn = (text: string): Promise<string> =>
  read(text).then(
    () => "none",
    (error: Error & { exitCode?: number; hint?: string }) =>
      `${error.exitCode} ${error.message}${error.hint === undefined ? "" : ` (${error.hint})`}`,
  );

describe("pipeline.yaml", () => {
  it("has the default pipeline as a template", async () => {
    const states = await read(DEFAULT);
    expect(states.map(({ name, agent, onPass }) => `${name} ${agent} ${onPass}`)).toEqual([
      "STRESS_TEST on-fail VALIDATE",
      "VALIDATE on-fail GENERATE_PRP",
      "GENERATE_PRP before CHECK_PRP",
      "CHECK_PRP on-fail GENERATE_TESTS",
      "GENERATE_TESTS before CHECK_TESTS",
      "CHECK_TESTS on-fail IMPLEMENT",
      "IMPLEMENT on-fail COMPLETE",
    ]);
    expect(states[0]?.command).toBe("ralph gate stress-test 'specs/a b.md'");
    expect(states[0]?.goal).toBe("The spec specs/a b.md is complete.");
    expect(states.at(-1)?.command).toBe("npm test");
  });

  it("takes everything that a state can say", async () => {
    const text = `maxGateRetries: 2
states:
  A:
    goal: "go {{current_state}}"
    command: make {{current_state}}
    passCondition: { exitCode: 3, output: "all (good|well)" }
    onFail: mend {{spec_file}}
    onPass: C
    agent: never
    timeout: 90s
  C: { command: "true" }
`;
    const { maxGateRetries, states } = await readPipeline(text, "p.yaml", VALUES, temporaryFolder());
    expect(maxGateRetries).toBe(2);
    expect(states).toEqual([
      {
        name: "A",
        goal: "go A",
        command: "make A",
        exitCode: 3,
        output: "all (good|well)",
        onFail: "mend specs/a b.md",
        onPass: "C",
        agent: "never",
        timeoutMs: 90_000,
      },
      {
        name: "C",
        goal: "The gate of C passes.",
        command: "true",
        exitCode: 0,
        onFail: "",
        onPass: "COMPLETE",
        agent: "on-fail",
        timeoutMs: 600_000,
      },
    ]);
  });

  it.each([
    ["1: the file has null: expected keys and values", ""],
    ['1: "states" is missing: expected keys and values', "maxGateRetries: 1\n"],
    ['3: unknown key "state" in the file (did you mean states?)', "states:\n  A: { command: x }\nstate: 1\n"],
    [
      '4: unknown key "onfail" in state A (did you mean onFail?)',
      "states:\n  A:\n    command: x\n    onfail: y\n",
    ],
    ["3: Map keys must be unique", "states:\n  A: { command: x }\n  A: { command: y }\n"],
    ['3: "command" has " ": expected some text', 'states:\n  A:\n    command: " "\n'],
    [
      "2: state A/B is not a state name: use letters, digits, _ and -, but not COMPLETE, GUTTER, INIT",
      "states:\n  A/B: { command: x }\n",
    ],
    [
      '4: unknown state "BE" (did you mean B?)',
      "states:\n  A:\n    command: x\n    onPass: BE\n  B: { command: y }\n",
    ],
    ["5: cycle: A -> B -> A", "states:\n  A: { command: x }\n  B:\n    command: y\n    onPass: A\n"],
    ["3: state B is never reached", "states:\n  A: { command: x, onPass: COMPLETE }\n  B: { command: y }\n"],
    [
      '4: "agent" has "always": expected on-fail, before, never',
      "states:\n  A:\n    command: x\n    agent: always\n",
    ],
    [
      '4: "timeout" has "soon": expected a duration, such as 90s, 10m or 2h',
      "states:\n  A:\n    command: x\n    timeout: soon\n",
    ],
    [
      '4: "output" is not a regular expression: unterminated group',
      'states:\n  A:\n    command: x\n    passCondition: { output: "(" }\n',
    ],
    [
      "4: {{spec}} in state A is unknown (known: spec_file, prp_file, current_state, test_command)",
      "states:\n  A:\n    goal: x\n    command: x {{spec}}\n",
    ],
  ])("%s: %j", async (expected, text) => {
    expect(await mistakeIn(text)).toBe(`2 p.yaml:${expected}`);
  });

  it("names a placeholder without a value with its line", async () => {
    const text = 'states:\n  A:\n    command: "{{test_command}}"\n';
    await expect(
      readPipeline(text, "p.yaml", { ...VALUES, testCommand: undefined }, temporaryFolder()),
    ).rejects.toThrow("p.yaml:3: {{test_command}} in state A has no value: no test command was found");
  });
});
