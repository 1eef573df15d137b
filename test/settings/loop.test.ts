import { describe, expect, it } from "vitest";
import { validate } from "../../src/settings/validate.js";

describe("the section of ralph loop", () => {
  it.each([
    { max_iterations: 100 },
    { max_time: 600 },
    { max_time: "10m" },
    { completion_tag: null },
    { agent: "claude --model opus" },
    {},
  ])("can be %j, under both of its names", (section) => {
    const { settings } = validate([{ name: "s", content: { loop: section, ralph_loop: section } }]);
    expect([settings.loop, settings.ralph_loop]).toEqual([section, section]);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ fallbackAgents: ["codex"] }, 'unknown key "loop.fallbackAgents" (did you mean "fallback_agents"?)'],
    [{ fallback_agents: "codex" }, 'loop.fallback_agents has "codex": expected'],
    [{ fallback_agents: [" "] }, 'loop.fallback_agents.0 has " ": expected some text'],
    [{ max_iteration: 2 }, 'unknown key "loop.max_iteration" (did you mean "max_iterations"?)'],
    [{ max_iterations: 101 }, "loop.max_iterations has 101: expected a whole number from 1 to 100"],
    [{ max_cost: 0 }, "loop.max_cost has 0: expected an amount in USD above 0, or null"],
    [{ max_time: 0 }, "loop.max_time has 0: expected a number of seconds, or a number with s, m, h or d"],
    [{ completion_tag: "a\nb" }, 'loop.completion_tag has "a\\nb": expected one line'],
  ])("cannot be %j", (section, problem) => {
    expect(() => validate([{ name: "s.json", content: { loop: section } }])).toThrow(`s.json: ${problem}`);
  });
});
