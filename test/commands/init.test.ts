import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject } from "../kit.js";

const TEMPLATE = `study specs/README.md
study CLAUDE.md and pick the most important incomplete task

IMPORTANT:

- do not assume anything is implemented - verify by reading code
- update IMPLEMENTATION_PLAN.md when the task is done
- if tests are missing, add them (choose unit/integration/property as appropriate, follow existing patterns)
- run tests after changes
- commit and push when you are done
`;

describe("ralph init without a terminal", () => {
  it("needs one", async () => {
    const p = createProject();
    const { code, stdout, stderr } = await p.ralph("init");
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "ralph: error: ralph init asks questions and needs a terminal (ralph init --yes writes the defaults without asking)\n",
    });
    expect(p.exists(".ralph")).toBe(false);
  });

  it("writes the defaults for what it finds with --yes", async () => {
    const p = createProject();
    p.agent([], { name: "codex" });
    p.write("package.json", '{"scripts":{"test":"x","lint":"y"}}');
    const { code, stdout } = await p.ralph("init", "--yes");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        "Settings written to .ralph/settings.json\n  agent      codex\n  guardrails npm test, npm run lint\n",
    });
    expect(JSON.parse(p.read(".ralph/settings.json"))).toEqual({
      maximumIterations: 10,
      completionResponse: "DONE",
      outputTruncateChars: 5000,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
      agent: { command: "codex", flags: [] },
      guardrails: [
        { command: "npm test", failAction: "APPEND" },
        { command: "npm run lint", failAction: "APPEND" },
      ],
    });
    expect(p.read(".ralph/.gitignore").split("\n")).toEqual(
      expect.arrayContaining(["*.log", "settings.local.json", "progress.md"]),
    );
    expect(statSync(join(p.dir, ".ralph/settings.json")).mode & 0o777).toBe(0o644);
  });

  it("names the other agents, and takes the one that is asked for", async () => {
    const p = createProject();
    p.agent([]);
    p.agent([], { name: "codex" });
    expect((await p.ralph("init", "--yes")).stdout).toContain("agent      claude (also found: codex)\n");
    const { stdout } = await p.ralph("init", "--yes", "--force", "--agent", "codex");
    expect(stdout).toContain("agent      codex (also found: claude)\n");
  });

  it("keeps what is there, unless it is told to overwrite", async () => {
    const p = createProject();
    p.agent([]);
    p.settings({ maximumIterations: 3 });
    const { code, stdout } = await p.ralph("init", "--yes");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "kept .ralph/settings.json (use --force to overwrite)\n",
    });
    expect(JSON.parse(p.read(".ralph/settings.json"))).toEqual({ maximumIterations: 3 });
    await p.ralph("init", "--yes", "--force");
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({ maximumIterations: 10 });
  });

  it("needs an agent", async () => {
    const p = createProject();
    const { code, stderr } = await p.ralph("init", "--yes");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "ralph: error: none of claude, codex, amp, gemini, opencode is on PATH (install one, or name another command: ralph init --yes --agent NAME)\n",
    });
    expect(p.exists(".ralph")).toBe(false);
  });

  it("points out a kept file that cannot be used, and the way out", async () => {
    const p = createProject();
    p.agent([]);
    p.write(".ralph/settings.json", "{bad");
    const { code, stderr } = await p.ralph("init", "--yes");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "ralph: error: malformed settings file .ralph/settings.json: unexpected bad at line 1, column 2 (correct it, or overwrite it: ralph init --yes --force)\n",
    });
    expect((await p.ralph("init", "--yes", "--force")).code).toBe(0);
    expect((await p.ralph("config")).code).toBe(0);
  });

  it("warns of programs that are not there", async () => {
    const p = createProject();
    p.write("go.mod", "module x");
    const { code, stderr } = await p.ralph("init", "--yes", "--agent", "my-agent --fast");
    expect(code).toBe(0);
    expect(stderr).toContain("ralph: warning: my-agent is not on PATH\n");
  });

  it.each([
    [["--force"], "--force goes with --prompt or --yes"],
    [["--agent", "x"], "--agent goes with --yes"],
  ])("refuses %j", async (args, message) => {
    const { code, stderr } = await createProject().ralph("init", ...args);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `ralph: error: ${message} (without flags, ralph init asks for everything)\n`,
    });
  });
});

describe("ralph init --prompt", () => {
  it("writes PROMPT.md", async () => {
    const p = createProject();
    const { code, stdout } = await p.ralph("init", "--prompt");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "created PROMPT.md\n" });
    expect(p.read("PROMPT.md")).toBe(TEMPLATE);
    expect(p.exists(".ralph")).toBe(false);
  });

  it("does not overwrite, unless it is told to", async () => {
    const p = createProject();
    p.write("PROMPT.md", "mine");
    const { code, stdout, stderr } = await p.ralph("init", "--prompt");
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr: "ralph: error: PROMPT.md already exists (use --force to overwrite)\n",
    });
    expect(p.read("PROMPT.md")).toBe("mine");
    const forced = await p.ralph("init", "--prompt", "--force");
    expect([forced.code, forced.stdout, p.read("PROMPT.md")]).toEqual([
      0,
      "created PROMPT.md (overwritten)\n",
      TEMPLATE,
    ]);
  });
});

describe("ralph template", () => {
  it("prints the same to stdout and writes nothing", async () => {
    const p = createProject();
    const { code, stdout, stderr } = await p.ralph("template");
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: TEMPLATE, stderr: "" });
    expect(p.sh("git status --porcelain")).toBe("");
  });
});
