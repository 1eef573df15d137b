import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asChecks } from "../../src/recipes/checks.js";
import { splitWords } from "../../src/words.js";
import { claudeProject, createProject, type Project, type Step } from "../kit.js";

const DONE: Step = { text: "All set.\n\nCOMPLETE" };

/** What was asked for, as it is kept for a resume. */
function specOf(p: Project): Record<string, unknown> {
  return JSON.parse(readFileSync(join(p.runFolder(), "spec.json"), "utf8")) as Record<string, unknown>;
}

describe("ralph loop", () => {
  it("ends when every check passes and the agent says that it is done", async () => {
    const p = claudeProject({ text: "half", bash: "touch a" }, { bash: "touch b", cost: 0.25, ...DONE });
    const { code, finished } = await p.ralph(
      ...splitWords("loop t --check 'test -f a' --check 'test -f b' --json"),
    );
    expect({ code, finished, calls: p.calls() }).toMatchObject({
      code: 0,
      calls: 2,
      finished: { success: true, reason: "all_checks_passed", exitCode: 0, iterations: 2, costUsd: 0.26 },
    });
  });

  it("takes every option of its own", async () => {
    const p = createProject();
    p.agent([{ text: "FERTIG" }]);
    p.write("spec.md", "the spec");
    const options =
      "--check true --check pwd --spec spec.md --max-iterations 7 --max-cost 1.5 --max-time 600";
    const more = "--completion-tag FERTIG --agent claude --model opus --check-timeout 5m --quiet";
    const { code, stdout } = await p.ralph("loop", "t", ...options.split(" "), ...more.split(" "));
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✅ Completed/) as string,
    });
    expect(specOf(p)).toMatchObject({
      recipe: { checks: asChecks(["true", "pwd"], 300_000), completionTag: "FERTIG" },
      limits: { maxIterations: 7, maxCostUsd: 1.5, maxTimeMs: 600_000 },
      agent: { words: ["claude"], model: "opus" },
    });
    expect(p.args(1).join(" ")).toContain("--model opus");
    expect(p.prompt(1)).toMatch(/^the spec\n\n---\n\n## Iteration 1 of 7\n/);
  });

  it("asks each time with a clean context: the task, what changed, what failed, and the progress", async () => {
    const p = claudeProject(
      { bash: "echo BRANDNEW > new.txt; echo more >> README.md", text: "x" },
      { bash: "touch ok", ...DONE },
    );
    const check = "echo SAID; test -f ok";
    expect((await p.ralph("loop", "TASK", "--check", check, "--check", "nope-here", "-n", "2")).code).toBe(1);
    expect(p.prompt(1).match(/^#+ .*$/gm)).toEqual(["## Iteration 1 of 2"]);
    const prompt = p.prompt(2);
    expect(prompt.match(/^#+ .*$/gm)).toEqual([
      "## Iteration 2 of 2",
      "## Changes so far",
      "## Failed checks",
      `### ${check}`,
      "### nope-here",
      "## Progress",
      "## Iteration 1 — FAIL",
    ]);
    for (const part of [
      "TASK\n\n---",
      "+BRANDNEW",
      "+more",
      "```\nSAID\n```",
      "Failed: exit code 127: command not found.",
    ]) {
      expect(prompt).toContain(part);
    }
  });
});

describe("the documentation", () => {
  it("shows settings that are valid, with the defaults of the program", async () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/guides/loop.md"), "utf8");
    const [yaml, json] = ["yaml", "json"].map(
      (kind) => page.split(`\`\`\`${kind}\n`)[1]?.split("```")[0] ?? "",
    );
    const p = claudeProject(DONE);
    p.write("c.yaml", yaml ?? "");
    expect((await p.ralph("loop", "t", "--check", "true", "-c", "c.yaml", "--agent", "claude")).code).toBe(0);
    const { limits, recipe } = specOf(p);
    expect((await p.ralph("loop", "t", "--check", "true")).code).toBe(0);
    expect(specOf(p)).toMatchObject({ limits, recipe });
    p.write("c.json", json ?? "");
    expect((await p.ralph("config", "-C", "c.json")).stdout).toContain("loop.max_iterations");
  });
});

describe("done", () => {
  const iterations = async (p: Project, ...args: string[]) =>
    (await p.ralph("loop", "t", "--check", "true", "-n", "2", "--json", ...args)).finished;

  it("needs the tag that was asked for, or none", async () => {
    const p = claudeProject({ text: "COMPLETE" });
    expect(await iterations(p, "--completion-tag", "FERTIG")).toMatchObject({ reason: "max_iterations" });
    expect(p.prompt(1)).toContain("end your final message with FERTIG on a line of its own");
    p.agent([{ text: "whatever" }]);
    expect(await iterations(p, "--no-completion-tag")).toMatchObject({
      reason: "all_checks_passed",
      iterations: 1,
    });
    expect(p.prompt(1)).not.toMatch(/COMPLETE|tag/);
  });

  it("needs the tag although the checks pass, and the next agent is told", async () => {
    const p = claudeProject({ text: "Looks good." }, DONE);
    const { events } = await p.ralph("loop", "t", "--check", "true", "--json");
    expect(events.find((event) => event.type === "iteration.finished")).toMatchObject({
      passed: true,
      claimedDone: false,
      reason:
        "all checks passed, but the agent did not say COMPLETE (--no-completion-tag lets the checks alone decide)",
    });
    expect(p.prompt(2)).toContain(
      "- Completion tag: not found (COMPLETE on a line of its own in the final message)",
    );
    expect(p.prompt(2)).not.toContain("## Failed checks");
  });
});

describe("the spec file", () => {
  it("takes the place of the task and is read anew for each iteration", async () => {
    const p = claudeProject({ bash: "echo second > docs/spec.md", text: "no" }, DONE);
    p.write("docs/spec.md", "first");
    expect((await p.ralph("loop", "TASK", "--spec", "docs/spec.md", "--check", "true")).code).toBe(0);
    expect([p.prompt(1), p.prompt(2)].map((prompt) => prompt.split("\n")[0])).toEqual(["first", "second"]);
    expect(p.prompt(1)).not.toContain("TASK");
  });

  it("that is gone ends the run with its name", async () => {
    const p = claudeProject({ bash: "rm spec.md", text: "no" });
    p.write("spec.md", "x");
    const { code, finished, stderr } = await p.ralph(
      ...splitWords("loop --spec spec.md --check true --json"),
    );
    expect({ code, finished, stderr }).toMatchObject({
      code: 1,
      stderr: "",
      finished: { reason: "error", iterations: 1, message: `spec file not found: ${p.dir}/spec.md` },
    });
    p.write("spec.md", "back");
    p.agent([DONE]);
    expect((await p.ralph("resume")).code).toBe(0);
  });
});

describe("a check", () => {
  it("shows its colours to nobody, and its secrets neither", async () => {
    const p = claudeProject({ text: "no" }, DONE);
    const check = "printf '\\033[31mred\\033[0m %s' \"$MY_API_KEY\"; exit 1";
    const env = { MY_API_KEY: "topsecret-0123456789" };
    const { all } = await p.ralphWith({ env }, "loop", "t", "--check", check, "-n", "2");
    expect(p.prompt(2)).toContain("```\nred [redacted]\n```");
    expect(p.read(".ralph/progress.md")).toContain("FAIL — red [redacted]");
    expect(all).not.toContain("topsecret");
    expect(p.sh(`grep -rl topsecret ${p.home} . || true`)).toBe("");
  });
});

describe("the progress file", () => {
  it("belongs to one run, and stays in its records", async () => {
    const p = claudeProject({ text: "no" }, { bash: "touch ok", ...DONE });
    p.write(".ralph/progress.md", "## Iteration 1 — PASS\nof long ago");
    await p.ralph("loop", "t", "--check", "test -f ok");
    const first = join(p.runFolder(), "progress.md");
    const text = p.read(".ralph/progress.md");
    expect(text.match(/^## .*$/gm)).toEqual(["## Iteration 1 — FAIL", "## Iteration 2 — PASS"]);
    expect(readFileSync(first, "utf8")).toBe(text);
    await p.ralph("loop", "t", "--check", "true");
    expect(p.read(".ralph/progress.md").match(/^## .*$/gm)).toEqual(["## Iteration 1 — PASS"]);
    expect(readFileSync(first, "utf8")).toBe(text);
    expect(p.sh("git status --porcelain -- .ralph/progress.md")).toBe("");
  });

  it("is not written through a link, and does without a place", async () => {
    const p = claudeProject({ text: "no" }, DONE);
    p.write("precious", "precious");
    symlinkSync(join(p.dir, "precious"), join(p.dir, ".ralph/progress.md"));
    expect((await p.ralph("loop", "t", "--check", "true")).code).toBe(0);
    expect(p.read("precious")).toBe("precious");
    p.sh("rm .ralph/progress.md; mkdir -p .ralph/progress.md/x");
    p.agent([{ text: "no" }, DONE]);
    expect((await p.ralph("loop", "t", "--check", "true")).code).toBe(0);
    expect(p.prompt(2)).toContain("## Iteration 1 — PASS");
  });
});

describe("a place", () => {
  it("that is no git repository is told once, and the loop works", async () => {
    const p = createProject({ git: false });
    p.agent([{ bash: "touch new", text: "no" }, { text: "no" }, DONE]);
    const { code, stderr } = await p.ralph("loop", "t", "--check", "true", "--agent", "claude");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "ralph: warning: not a git repository: prompts cannot show what has changed so far\n",
    });
    expect(p.prompt(2)).not.toContain("## Changes so far");
  });

  it.each([
    ["a detached HEAD", "git checkout -q --detach"],
    ["a repository without commits", "rm -rf .git && git init -q ."],
    ["a folder below the top", "mkdir below && cd below"],
  ])("can be %s", async (_, command) => {
    const p = claudeProject({ bash: "echo BRANDNEW > new.txt", text: "no" }, DONE);
    p.sh(command);
    const cwd = p.exists("below") ? join(p.dir, "below") : p.dir;
    const { code, stderr } = await p.ralphWith({ cwd }, "loop", "t", "--check", "true");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(p.prompt(2)).toContain("+BRANDNEW");
  });
});

describe("the settings", () => {
  const YAML = `ralph_loop:
  max_iterations: 25 # 1-100
  max_cost: null # USD, null = no limit
  max_time: null # seconds, null = no limit
  completion_tag: "COMPLETE" # tag the agent emits
  agent: build # default agent
`;

  it("can be the documented YAML file as it stands", async () => {
    const p = createProject();
    p.agent([DONE]);
    p.write("c.yaml", YAML);
    for (const flag of ["-c", "-C", "--config"])
      expect((await p.ralph("loop", "t", "--check", "true", flag, "c.yaml")).code).toBe(0);
    expect(specOf(p)).toMatchObject({
      recipe: { completionTag: "COMPLETE" },
      limits: { maxIterations: 25, maxCostUsd: null, maxTimeMs: null },
      agent: { name: "claude" },
      config: "c.yaml",
    });
  });

  it("give what flags do not, from both sections and the local file", async () => {
    const p = createProject();
    p.agent([{ text: "FERTIG" }]);
    p.settings({
      ralph_loop: { max_iterations: 3, max_cost: 2, agent: "claude" },
      loop: { max_iterations: 4, max_time: "10m" },
    });
    p.write(".ralph/settings.local.json", '{"loop":{"completion_tag":"FERTIG"}}');
    expect((await p.ralph("loop", "t", "--check", "true", "--max-cost", "9")).code).toBe(0);
    expect(specOf(p)).toMatchObject({
      recipe: { completionTag: "FERTIG" },
      limits: { maxIterations: 4, maxCostUsd: 9, maxTimeMs: 600_000 },
      agent: { name: "claude" },
    });
    const { stdout } = await p.ralph("config");
    expect(stdout).toMatch(/^loop\.completion_tag +"FERTIG" +\.ralph\/settings\.local\.json$/m);
    expect(stdout).toMatch(/^ralph_loop\.max_cost +2 +\.ralph\/settings\.json$/m);
  });

  it("and --agent call the default agent build, unless there is a profile of that name", async () => {
    const p = claudeProject(DONE);
    p.agent([DONE], { name: "gemini" });
    expect((await p.ralph("loop", "t", "--check", "true", "--agent", "build")).code).toBe(0);
    expect(p.calls()).toBe(1);
    p.program("own", "#!/bin/sh\ncat > /dev/null\necho COMPLETE\n");
    p.settings({
      agent: { command: "claude" },
      agents: { build: { command: "own" } },
      loop: { agent: "build" },
    });
    expect((await p.ralph("loop", "t", "--check", "true")).code).toBe(0);
    expect([p.calls(), specOf(p)["agent"]]).toMatchObject([1, { name: "build", words: ["own"] }]);
  });
});

describe("ralph resume of a loop", () => {
  it("needs a higher limit after a limit, a hundred at the most, and says what failed", async () => {
    const p = claudeProject({ text: "no", cost: 0.5 }, { bash: "touch ok", ...DONE });
    expect((await p.ralph("loop", "t", "--check", "echo SAID; test -f ok", "-n", "1")).code).toBe(1);
    for (const [args, message] of [
      [[], "has reached its limit (max_iterations)"],
      [["-n", "101"], "--max-iterations 101: expected a whole number from 1 to 100"],
      [["-n", "0"], "--max-iterations 0: expected a whole number"],
    ] as const) {
      const refused = await p.ralph("resume", ...args);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    const { code, finished } = await p.ralph("resume", "-n", "100", "--json");
    expect({ code, finished }).toMatchObject({ code: 0, finished: { iterations: 2, costUsd: 0.51 } });
    expect(p.prompt(2)).toContain("```\nSAID\n```");
    expect(p.prompt(2)).toContain("## Iteration 2 of 100");
  });
});

describe("what others were bitten by", () => {
  it("is stuck when nothing changes and the tag is never said", async () => {
    const p = claudeProject({ text: "the work is done" });
    const { finished } = await p.ralph("loop", "t", "--check", "true", "--json");
    expect(finished).toMatchObject({ reason: "stuck", iterations: 3 });
    expect(finished.message).toContain("--no-completion-tag");
  });

  it("warns of a task that says the tag itself", async () => {
    const p = claudeProject({ text: "COMPLETE" });
    const { stderr } = await p.ralph("loop", "Fix it, then print:\n\nCOMPLETE", "--check", "true");
    expect(stderr).toContain("the task contains COMPLETE on a line of its own");
  });

  it("goes on after a limit was raised, although the answer was cut off by the old one", async () => {
    const p = claudeProject({ sleepMs: 20_000 }, { bash: "touch ok", text: "COMPLETE" });
    const run = p.start(["loop", "t", "--check", "sleep 1; test -f ok", "--max-time", "1", "--json"]);
    await run.until((output) => output.includes('"check.started"'));
    run.child.kill("SIGKILL");
    await run.result;
    const { code, finished } = await p.ralph("resume", "--max-time", "10m", "--json");
    expect({ code, reason: finished.reason }).toEqual({ code: 0, reason: "all_checks_passed" });
  });
});
