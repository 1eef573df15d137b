import { expect, test } from "vitest";
import { netAgents, netsFor } from "../../src/run/agent-spec.js";
import { DEFAULTS } from "../../src/settings/defaults.js";

const SETTINGS = {
  ...DEFAULTS,
  ralph_loop: { fallback_agents: ["amp"], escalate_model: "sonnet" },
  loop: { fallback_agents: ["codex", "my-agent"] },
};
const OF_SETTINGS = { fallbackAgents: ["codex", "my-agent"], escalateModel: "sonnet" };

test.each([
  ["nothing", {}, OF_SETTINGS],
  ["fallback agents", { fallbackAgents: ["cat"] }, { ...OF_SETTINGS, fallbackAgents: ["cat"] }],
  ["a stronger model", { escalateModel: "opus" }, { ...OF_SETTINGS, escalateModel: "opus" }],
  ["another agent", { agent: "gemini" }, { ...OF_SETTINGS, escalateModel: undefined }],
  [
    "another agent with its model",
    { agent: "gemini", escalateModel: "pro" },
    { ...OF_SETTINGS, escalateModel: "pro" },
  ],
])("the nets of the settings where %s is given", (_, given, nets) => {
  expect(netsFor(given, SETTINGS)).toEqual(nets);
});

test("who takes over, by role", () => {
  const own = { agent: "claude", agentFlags: ["--model haiku --verbose"] };
  expect(netAgents(OF_SETTINGS, own)).toEqual({
    "fallback-1": { agent: "codex", agentFlags: [] },
    "fallback-2": { agent: "my-agent", agentFlags: [] },
    escalated: { agent: "claude", agentFlags: ["--verbose"], model: "sonnet" },
  });
  expect(netAgents({}, own)).toEqual({});
});
