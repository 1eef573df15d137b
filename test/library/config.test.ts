import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type LoopSpec, RalphError, RalphLoop } from "../../src/index.js";
import { LIMIT_ROWS } from "../../src/settings/limits.js";

/** The limits without a field of their own. */
const OWN = ["maxIterations", "maxCostUsd", "maxTimeMs"];
const MORE = LIMIT_ROWS.map(([name]) => name).filter((name) => !OWN.includes(name));

const RIGHT = { task: "t", checks: ["true"] };
const WHOLE = "expected a whole number from 1 to 100";
const COMMANDS = "expected a list of commands, at least one";

/** A configuration that types would forbid. */
function untyped(fields: unknown): LoopSpec {
  return fields as LoopSpec;
}

function refusal(fields: unknown): unknown {
  try {
    new RalphLoop(untyped(fields));
  } catch (error) {
    if (!(error instanceof RalphError)) return error;
    const { code, exitCode, message, hint } = error;
    return { code, exitCode, said: hint === undefined ? message : `${message} (${hint})` };
  }
  return "nothing";
}

test.each([
  [{ task: undefined }, "task is missing: expected something to do"],
  [{ task: " " }, "task ' ': expected something to do"],
  [{ checks: undefined }, `checks is missing: ${COMMANDS}`],
  [{ checks: [] }, `checks []: ${COMMANDS}`],
  [{ checks: "true" }, `checks 'true': ${COMMANDS}`],
  [{ specFile: "" }, "specFile '': expected the path of a file"],
  [{ completionTag: "A\nB" }, "completionTag 'A\\nB': expected one line of text, or null"],
  ...[0, 101, 1.5, "3"].map((value): [object, string] => [
    { maxIterations: value },
    `maxIterations ${typeof value === "string" ? `'${value}'` : value}: ${WHOLE}`,
  ]),
  [{ maxCost: 0 }, "maxCost 0: expected an amount in USD above 0, or null"],
  [{ maxTime: "10m" }, "maxTime '10m': expected seconds above 0, or null"],
  [{ checkTimeout: 0 }, "checkTimeout 0: expected seconds above 0"],
  [{ agent: "" }, "agent '': expected a name, a command or a function"],
  [{ agent: { command: "x" } }, "agent { command: 'x' }: expected a name, a command or a function"],
  [{ model: 4 }, "model 4: expected the name of a model, or null"],
  [{ workspaceRoot: "/no/such/folder" }, "workspaceRoot '/no/such/folder': expected a folder that exists"],
  [{ home: "" }, "home '': expected the path of a folder"],
  [{ signal: {} }, "signal {}: expected an AbortSignal"],
  [{ limits: 3 }, "limits 3: expected an object"],
  [{ limits: { maxTokens: 0 } }, "limits.maxTokens 0: expected a whole number of at least 1, or null"],
  [
    { limits: { iterationTimeoutMs: 0 } },
    "limits.iterationTimeoutMs 0: expected milliseconds above 0, or null",
  ],
  [{ limits: { stuckAfter: 0.5 } }, "limits.stuckAfter 0.5: expected a whole number, or 0 for never"],
  [{ maxIteration: 3 }, 'unknown key "maxIteration" (did you mean "maxIterations"?)'],
  [{ limits: { x: 3 } }, `unknown key "limits.x" (known: ${MORE.join(", ")})`],
])("%o is refused", (fields, said) => {
  expect(refusal({ ...RIGHT, ...fields })).toEqual({ code: "config_invalid", exitCode: 2, said });
});

test.each([[undefined], [null], ["t"], [["t"]]])("%o is no configuration", (config) => {
  expect(refusal(config)).toMatchObject({ said: expect.stringContaining("expected an object") as string });
});

test("an agent that is handed in is checked like the one of the configuration", () => {
  expect(() => new RalphLoop(RIGHT, 3 as never)).toThrow("agent 3: expected a name, a command or a function");
});

test("docs/reference/library.md names every field", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/reference/library.md"), "utf8");
  const known = [{ something: 1 }, { limits: { something: 1 } }].flatMap((fields) => {
    const { said } = refusal({ ...RIGHT, ...fields }) as { said: string };
    return said.replace(/^.*known: (.*)\)$/, "$1").split(", ");
  });
  expect(known).toEqual(expect.arrayContaining(["task", ...MORE]));
  expect(known.filter((field) => !page.includes(`\`${field}\``))).toEqual([]);
});
