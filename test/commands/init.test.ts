import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AGENT_NAMES } from "../../src/agents/index.js";
import { createProject } from "../kit.js";

const PROMPT = `study README.md
read the last commits to see what is done, then pick the most important incomplete task

IMPORTANT:

- do not assume anything is implemented - verify by reading code
- do that one task alone
- if tests are missing, add them (choose unit/integration/property as appropriate, follow existing patterns)
- run the tests after changes
- commit when the task is done, and say in the message what is left; do not push

When no task is left and the tests pass, end your final message with this line, and not before:

<response>DONE</response>
`;

describe("ralph init without a terminal", () => {
  it("writes the defaults for what it finds with --yes", async () => {
    const p = createProject();
    p.agent([], { name: "codex" });
    p.write("package.json", '{"scripts":{"test":"x","lint":"y"},"dependencies":{"a":"1"}}');
    p.write("package-lock.json", "{}");
    const { code, stdout } = await p.ralph("init", "--yes");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Settings written to .ralph/settings.json
  agent   codex
  checks  npm test; npm run lint
  setup   npm ci
  limits  10 iterations, 2h
Next: ralph run "WHAT YOU WANT DONE"
`,
    });
    expect(JSON.parse(p.read(".ralph/settings.json"))).toEqual({
      $schema: "./settings.schema.json",
      agent: { command: "codex" },
      checks: ["npm test", "npm run lint"],
      setup: "npm ci",
      maxIterations: 10,
      maxTime: "2h",
      completionResponse: "DONE",
      outputTruncateChars: 5000,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
    });
    expect(JSON.parse(p.read(".ralph/settings.schema.json"))).toMatchObject({ title: "Settings of ralph" });
    expect((await p.ralph("config")).code).toBe(0);
    expect(p.read(".ralph/.gitignore").split("\n")).toEqual(
      expect.arrayContaining(["*.log", "settings.local.json", "progress.md"]),
    );
    expect(statSync(join(p.dir, ".ralph/settings.json")).mode & 0o777).toBe(0o644);
  });

  it("names the other agents, and takes the one that is asked for", async () => {
    const p = createProject();
    p.agent([]);
    p.agent([], { name: "codex" });
    expect((await p.ralph("init", "--yes")).stdout).toContain("agent   claude (also found: codex)\n");
    const { stdout } = await p.ralph("init", "--yes", "--force", "--agent", "codex");
    expect(stdout).toContain("agent   codex (also found: claude)\n");
  });

  it("runs tools of Python in the environment of the project", async () => {
    const p = createProject();
    p.agent([]);
    p.write("requirements.txt", "pytest\n");
    p.write(".venv/bin/pytest", "");
    await p.ralph("init", "--yes");
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({
      checks: [".venv/bin/pytest"],
      setup: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    });
  });

  it("runs what the setup installs from the environment that the setup creates", async () => {
    const p = createProject();
    p.agent([]);
    p.write("requirements.txt", "pytest==8.3\n");
    p.write("test_a.py", "");
    const { stderr } = await p.ralph("init", "--yes");
    expect(stderr).toBe("ralph: warning: .venv/bin/pytest does not exist yet\n");
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({ checks: [".venv/bin/pytest"] });
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
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({ maxIterations: 10, maxCost: 10 });
  });

  it("needs an agent", async () => {
    const p = createProject();
    const { code, stderr } = await p.ralph("init", "--yes");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `ralph: error: none of ${AGENT_NAMES.join(", ")} is on PATH (install one, or name another command: ralph init --yes --agent NAME)\n`,
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
});

describe("ralph init --prompt", () => {
  it("writes PROMPT.md", async () => {
    const p = createProject();
    const { code, stdout } = await p.ralph("init", "--prompt");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "created PROMPT.md\nNext: describe what you want in it, then: ralph run -f PROMPT.md\n",
    });
    expect(p.read("PROMPT.md")).toBe(PROMPT);
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
    expect([forced.code, p.read("PROMPT.md")]).toEqual([0, PROMPT]);
    expect(forced.stdout).toContain("created PROMPT.md (overwritten)\n");
  });

  it("names the files that are there, the tests of the project and the response of its settings", async () => {
    const p = createProject({ git: false });
    p.settings({ completionResponse: "READY" });
    for (const name of ["CLAUDE.md", "specs/README.md", "IMPLEMENTATION_PLAN.md"]) p.write(name, "x");
    p.write("package.json", '{"scripts":{"test":"node --test"}}');
    await p.ralph("init", "--prompt");
    const text = p.read("PROMPT.md");
    for (const line of [
      "study CLAUDE.md, specs/README.md",
      "look at what is done, then pick the most important incomplete task",
      "- update IMPLEMENTATION_PLAN.md when the task is done",
      "- run `npm test` after changes",
      "<response>READY</response>",
    ])
      expect(text.split("\n")).toContain(line);
  });

  it("writes a prompt that ends the run when an agent follows it", async () => {
    const p = createProject();
    p.agent([{ text: "One task is left." }, { text: "All done.\n\n<response>DONE</response>" }]);
    await p.ralph("init", "--prompt");
    const { finished } = await p.ralph("run", "-f", "PROMPT.md", "--json");
    expect(finished).toMatchObject({ reason: "completed", iterations: 2 });
  });
});

describe("ralph template", () => {
  it("prints the same to stdout and writes nothing", async () => {
    const p = createProject();
    const { code, stdout, stderr } = await p.ralph("template");
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: PROMPT, stderr: "" });
    expect(p.sh("git status --porcelain")).toBe("");
  });
});
