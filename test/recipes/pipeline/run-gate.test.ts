import { expect, it } from "vitest";
import type { PipelineState } from "../../../src/recipes/pipeline/spec.js";
import { temporaryFolder } from "../../kit.js";
import { gateIn, STATE } from "./kit.js";

it.each<[string, Partial<PipelineState>, boolean, string]>([
  ["exits 0", { command: "echo fine" }, true, "fine"],
  ["exits as it should", { command: "exit 3", exitCode: 3 }, true, "✅ passed"],
  ["says what it has to", { command: "echo fine; echo great", output: "^great$" }, true, "great"],
  [
    "is the test command, and shows no test",
    { command: "true", runsTests: true },
    false,
    "❌ its output shows no passed test, so it proves nothing (passCondition can name another proof)",
  ],
  [
    "is a runner that is not known",
    { command: "echo; echo All good", runsTests: true, unknownRunner: true },
    true,
    "⚠️ passed, but its output does not say how many tests ran: All good",
  ],
  ["is not there", { command: "no-such-gate" }, false, "/bin/sh: 1: no-such-gate: not found"],
])("a gate that %s", async (_, change, passed, line) => {
  const gate = await gateIn(temporaryFolder(), { ...STATE, ...change });
  expect({
    passed: gate?.passed,
    line: gate?.line.replace(/^.*(?=no-such-gate: not found)/, "/bin/sh: 1: "),
  }).toEqual({
    passed,
    line,
  });
});

it("does not pass a gate that ran tests before and runs none now", async () => {
  const gate = await gateIn(temporaryFolder(), STATE, { hasTests: true });
  expect(gate).toMatchObject({
    passed: false,
    line: "❌ it ran tests before, and none passes now: this proves nothing",
  });
});
