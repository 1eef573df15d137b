import { describe, expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";
import { openTerminal, type Terminal } from "./tmux.js";

/** Answers each question when it is asked: the last one on the screen. */
async function answer(terminal: Terminal, dialogue: [question: string, answer: string][]): Promise<void> {
  for (const [question, text] of dialogue) {
    const escaped = question.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    await terminal.shows(new RegExp(`◆ +${escaped}.*(?:\\n(?!◇).*)*$`));
    terminal.type(text);
    terminal.press("Enter");
  }
}

const AGENT = "Which agent does the work?";
const CHECKS = "Which checks must pass? Separate them with ;";
const SETUP = "Which command installs the dependencies in a new worktree?";
const ITERATIONS = "Stop after how many iterations? [10]";
const COST = "Stop after how many US dollars?";
const TIME = "Stop after how long? Such as 90m or 8h [2h]";
const COMMIT = "Commit the work when all checks pass? (y/N)";
/** Answers to everything but the agent, with the defaults. */
const REST = [CHECKS, SETUP, ITERATIONS, COST, TIME, COMMIT].map((one): [string, string] => [one, ""]);

const ended = (terminal: Terminal, code: number) => terminal.shows(`code ${code}`);

async function start(p: Project): Promise<Terminal> {
  const terminal = await openTerminal(p);
  terminal.type("clear; ralph init; echo code $?");
  terminal.press("Enter");
  return terminal;
}

describe("ralph init on a terminal", () => {
  it("asks the questions one after the other and writes the settings", async () => {
    const p = createProject();
    const terminal = await start(p);
    await answer(terminal, [
      [AGENT, "claude"],
      [CHECKS, "make lint;  make test ;"],
      [SETUP, "npm ci"],
      [ITERATIONS, "25"],
      [`${COST} [10]`, "$2.50"],
      [TIME, "90m"],
      [COMMIT, "y"],
    ]);
    await ended(terminal, 0);
    expect(terminal.screen()).toContain("\nSettings written to .ralph/settings.json\n");
    expect(terminal.screen()).toContain('\nNext: ralph run "WHAT YOU WANT DONE"\n');
    expect(terminal.screen()).toContain("the agent gets its output in the next");
    expect(JSON.parse(p.read(".ralph/settings.json"))).toEqual({
      $schema: "./settings.schema.json",
      agent: { command: "claude" },
      checks: ["make lint", "make test"],
      setup: "npm ci",
      maxIterations: 25,
      maxCost: 2.5,
      maxTime: "90m",
      completionResponse: "DONE",
      outputTruncateChars: 5000,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
      scm: { command: "git", tasks: ["commit"] },
    });
    expect(p.sh("git status --porcelain --untracked-files=all")).toBe(
      "?? .ralph/settings.json\n?? .ralph/settings.schema.json\n",
    );
    expect((await p.ralph("config")).code).toBe(0);
  });

  it("asks again for what cannot be", async () => {
    const p = createProject();
    const terminal = await start(p);
    await answer(terminal, [[AGENT, " "]]);
    await terminal.shows("A command is needed.");
    terminal.type('my "agent');
    terminal.press("Enter");
    await terminal.shows(/unbalanced|quote/);
    terminal.press("C-u");
    terminal.type("my-agent");
    terminal.press("Enter");
    await answer(terminal, REST.slice(0, 2));
    const wrong: [string, string, string, string][] = [
      [ITERATIONS, "1.5", "Not a positive whole number: 1.5", "25"],
      [COST, "much", "Not an amount such as 2.50, or none: much", "none"],
      [TIME, "soon", "Not a duration such as 90m or 8h, or none: soon", "none"],
    ];
    for (const [question, given, problem, mended] of wrong) {
      await answer(terminal, [[question, given]]);
      await terminal.shows(problem);
      terminal.press("C-u");
      terminal.type(mended);
      terminal.press("Enter");
    }
    await answer(terminal, [[COMMIT, ""]]);
    await ended(terminal, 0);
    const { maxIterations, maxCost, maxTime, ...written } = JSON.parse(p.read(".ralph/settings.json"));
    expect([maxIterations, maxCost, maxTime]).toEqual([25, undefined, undefined]);
    expect(written).toMatchObject({ agent: { command: "my-agent" }, checks: [] });
    expect(terminal.screen()).toContain("ralph: warning: my-agent is not on PATH");
  });

  it("suggests what it finds, and Enter takes the first agent", async () => {
    const p = createProject();
    p.agent([]);
    p.write("package.json", '{"scripts":{"test":"node --test"}}');
    const terminal = await start(p);
    await terminal.shows("Found on this machine: claude");
    await answer(terminal, [[`${AGENT} [claude]`, ""], [`${CHECKS} [npm test]`, ""], ...REST.slice(1)]);
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({
      agent: { command: "claude" },
      checks: ["npm test"],
    });
  });

  it("keeps answers that were pasted ahead for their questions", async () => {
    const p = createProject();
    const terminal = await start(p);
    await terminal.shows(AGENT);
    terminal.type("codex\n\n\n7\n\n\nn\n");
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({
      agent: { command: "codex" },
      maxIterations: 7,
      checks: [],
    });
  });

  it.each([
    ["Ctrl+C", "C-c"],
    ["the end of the input", "C-d"],
  ])("writes nothing at %s and exits with 130", async (_, key) => {
    const p = createProject();
    const terminal = await start(p);
    await answer(terminal, [[AGENT, "claude"]]);
    await terminal.shows(CHECKS);
    terminal.press(key);
    await ended(terminal, 130);
    expect(p.exists(".ralph")).toBe(false);
  });

  it("shows what is there with its sources, and keeps it unless told otherwise", async () => {
    const p = createProject();
    const file = p.settings({ agent: { command: "claude", env: { MY_TOKEN: "very-secret-value" } } });
    p.write(".ralph/settings.local.json", '{"maximumIterations":3}');
    const before = p.read(".ralph/settings.json");
    const terminal = await start(p);
    await terminal.shows("Loaded from .ralph/settings.json (with local overlay from settings.local.json)");
    await answer(terminal, [["Overwrite? (y/N)", ""]]);
    await ended(terminal, 0);
    expect(terminal.screen()).toContain('  "maxIterations": 3,\n');
    expect(terminal.screen()).not.toContain("very-secret-value");
    expect([file.endsWith("settings.json"), p.read(".ralph/settings.json")]).toEqual([true, before]);
  });

  it("overwrites after a yes, and not when the questions are left", async () => {
    const p = createProject();
    p.settings({ agent: { command: "old" } });
    const before = p.read(".ralph/settings.json");
    const terminal = await start(p);
    await answer(terminal, [["Overwrite? (y/N)", "y"]]);
    await terminal.shows(AGENT);
    terminal.press("C-c");
    await ended(terminal, 130);
    expect(p.read(".ralph/settings.json")).toBe(before);
    terminal.type("clear; ralph init; echo code $?\n");
    await answer(terminal, [["Overwrite? (y/N)", "YES"], [AGENT, "new"], ...REST]);
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({ agent: { command: "new" } });
  });
});
