import { describe, expect, it } from "vitest";
import { createProject } from "../kit.js";

describe("ralph config", () => {
  it("shows the defaults where there is no file", async () => {
    const { code, stdout } = await createProject().ralph("config");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `KEY                            VALUE   FROM
maximumIterations              10      default
completionResponse             "DONE"  default
outputTruncateChars            5000    default
streamAgentOutput              true    default
includeIterationCountInPrompt  false   default
guardrails                     []      default
`,
    });
  });

  it("names the file that each value comes from", async () => {
    const p = createProject();
    p.settings({ maximumIterations: 3, agent: { command: "claude", flags: ["--x"] } });
    p.write(
      ".ralph/settings.local.json",
      '{"agent":{"flags":["--y"],"model":"m"},"completionResponse":"OK"}',
    );
    const { stdout } = await p.ralph("config", "--json");
    expect(JSON.parse(stdout)).toEqual({
      files: [".ralph/settings.json", ".ralph/settings.local.json"],
      settings: {
        maximumIterations: 3,
        completionResponse: "OK",
        outputTruncateChars: 5000,
        streamAgentOutput: true,
        includeIterationCountInPrompt: false,
        agent: { command: "claude", flags: ["--y"], model: "m" },
        guardrails: [],
      },
      origins: {
        maximumIterations: ".ralph/settings.json",
        completionResponse: ".ralph/settings.local.json",
        outputTruncateChars: "default",
        streamAgentOutput: "default",
        includeIterationCountInPrompt: "default",
        "agent.command": ".ralph/settings.json",
        "agent.flags": ".ralph/settings.local.json",
        "agent.model": ".ralph/settings.local.json",
        guardrails: "default",
      },
    });
  });

  it("shows no secret", async () => {
    const p = createProject();
    const token = `ghp_${"a1B2".repeat(9)}`;
    p.settings({
      agent: { command: "claude", env: { ANYTHING: "hidden-value" }, flags: [`--token=${token}`] },
      agents: { quick: { command: "claude", env: { OTHER: "hidden-value-too" } } },
    });
    const { stdout } = await p.ralph("config");
    expect(stdout).not.toMatch(/hidden-value|ghp_/);
    expect(stdout).toMatch(/^agent\.env\.ANYTHING +"\[redacted\]" +\.ralph\/settings\.json$/m);
  });
});
