import { describe, expect, it } from "vitest";
import { createProject } from "../kit.js";

describe("ralph config", () => {
  it("shows the defaults where there is no file", async () => {
    const { code, stdout } = await createProject().ralph("config");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `KEY                            VALUE   FROM
completionResponse             "DONE"  default
outputTruncateChars            5000    default
streamAgentOutput              true    default
includeIterationCountInPrompt  false   default
checks                         []      default
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
        maxIterations: 3,
        completionResponse: "OK",
        outputTruncateChars: 5000,
        streamAgentOutput: true,
        includeIterationCountInPrompt: false,
        agent: { command: "claude", flags: ["--y"], model: "m" },
        checks: [],
      },
      origins: {
        maxIterations: ".ralph/settings.json",
        completionResponse: ".ralph/settings.local.json",
        outputTruncateChars: "default",
        streamAgentOutput: "default",
        includeIterationCountInPrompt: "default",
        "agent.command": ".ralph/settings.json",
        "agent.flags": ".ralph/settings.local.json",
        "agent.model": ".ralph/settings.local.json",
        checks: "default",
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

describe("ralph config get and set", () => {
  const BASE = ".ralph/settings.json";
  const LOCAL = ".ralph/settings.local.json";

  it("shows one value, by its name of today or an older one", async () => {
    const p = createProject();
    p.settings({ guardrails: ["npm test"], agent: { command: "claude" } });
    const get = async (...words: string[]) => (await p.ralph("config", "get", ...words)).stdout;
    expect(await get("agent.command")).toBe("claude\n");
    expect(await get("agent.command", "--json")).toBe('"claude"\n');
    expect(await get("checks.0.command")).toBe("npm test\n");
    expect(await get("guardrails")).toBe('[{"command":"npm test","failAction":"APPEND"}]\n');
    expect(await p.ralph("config", "get", "maxCost")).toMatchObject({
      ...{ code: 1, stdout: "", stderr: "ralph: maxCost is not set\n" },
    });
  });

  it("shows a null that switches off what the user's own file says", async () => {
    const p = createProject();
    p.settings({ scm: null });
    await p.ralph("config", "set", "scm", '{"command":"git","tasks":["commit"]}', "--user");
    expect(await p.ralph("config", "get", "scm")).toMatchObject({ code: 0, stdout: "null\n" });
    expect((await p.ralph("config")).stdout).toMatch(/^scm +null +\.ralph\/settings\.json$/m);
  });

  it("changes one value, and the comments of the file stay", async () => {
    const p = createProject();
    p.write(BASE, '{\n  // what counts\n  "guardrails": ["make"]\n}\n');
    expect(await p.ralph("config", "set", "maxCost", "5")).toMatchObject({
      ...{ code: 0, stdout: `set maxCost in ${BASE}\n` },
    });
    await p.ralph("config", "set", "checks", "npm test");
    expect(p.read(BASE)).toBe(
      '{\n  // what counts\n  "guardrails": [\n    "npm test"\n  ],\n  "maxCost": 5\n}\n',
    );
  });

  it("writes the user's file or the local one, and says which one wins", async () => {
    const p = createProject();
    await p.ralph("config", "set", "agent.command", "codex", "--user");
    expect(await p.ralph("config", "set", "agent.command", "claude", "--local")).toMatchObject({ code: 0 });
    expect(JSON.parse(p.read(LOCAL))).toEqual({ agent: { command: "claude" } });
    const { stdout, stderr } = await p.ralph("config", "set", "agent.command", "amp", "--user");
    expect(stdout).toBe("set agent.command in ~/.ralph/settings.json\n");
    expect(stderr).toContain(`${LOCAL} sets agent.command, too, and wins`);
    expect(p.sh("git status --porcelain --untracked-files=all")).toBe("");
  });
});
