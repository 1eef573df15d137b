import { describe, expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";
import { openTerminal, type Terminal } from "./tmux.js";

/** Answers each question when it is asked: the last one on the screen. */
async function answer(terminal: Terminal, dialogue: [question: string, answer: string][]): Promise<void> {
  for (const [question, text] of dialogue) {
    const escaped = question.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    await terminal.shows(new RegExp(`◆ +${escaped}(?:\\n(?!◇).*)*$`));
    terminal.type(text);
    terminal.press("Enter");
  }
}

const AGENT = "Agent command (e.g., claude, codex, amp, or other LLM CLI)";
const FLAGS = "Agent flags (comma-separated, optional)";
const GUARDRAIL = "Add guardrail command (leave blank to finish)";
const ACTION = "Fail action (APPEND|PREPEND|REPLACE)";
const HINT = "Hint (optional, guidance for agent on failure)";
/** Answers to everything but the agent, with the defaults. */
const REST: [string, string][] = [
  [FLAGS, ""],
  ["Maximum iterations [10]", ""],
  ["Completion response [DONE]", ""],
  [GUARDRAIL, ""],
  ["Configure SCM? (y/N)", ""],
];

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
      [FLAGS, " --model , opus,, "],
      ["Maximum iterations [10]", ""],
      ["Completion response [DONE]", ""],
      [GUARDRAIL, "make lint"],
      [ACTION, "append"],
      [HINT, "Fix lint errors only. Do not change behavior."],
      [GUARDRAIL, "make test"],
      [ACTION, "Replace"],
      [HINT, ""],
      [GUARDRAIL, ""],
      ["Configure SCM? (y/N)", "y"],
      ["SCM command (e.g., git)", "git"],
      ["SCM tasks (comma-separated, e.g., commit,push)", "commit, push"],
    ]);
    await ended(terminal, 0);
    expect(terminal.screen()).toContain("\nSettings written to .ralph/settings.json\n");
    expect(JSON.parse(p.read(".ralph/settings.json"))).toEqual({
      maximumIterations: 10,
      completionResponse: "DONE",
      outputTruncateChars: 5000,
      streamAgentOutput: true,
      includeIterationCountInPrompt: false,
      agent: { command: "claude", flags: ["--model", "opus"] },
      guardrails: [
        { command: "make lint", failAction: "APPEND", hint: "Fix lint errors only. Do not change behavior." },
        { command: "make test", failAction: "REPLACE" },
      ],
      scm: { command: "git", tasks: ["commit", "push"] },
    });
    expect(p.sh("git status --porcelain --untracked-files=all")).toBe("?? .ralph/settings.json\n");
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
    await answer(terminal, [
      [FLAGS, ""],
      ["Maximum iterations [10]", "1.5"],
    ]);
    await terminal.shows("Not a positive whole number: 1.5");
    terminal.press("C-u");
    terminal.type("25");
    terminal.press("Enter");
    await answer(terminal, [["Completion response [DONE]", "READY"], ...REST.slice(3)]);
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({
      maximumIterations: 25,
      completionResponse: "READY",
      agent: { command: "my-agent", flags: [] },
      guardrails: [],
    });
    expect(terminal.screen()).toContain("ralph: warning: my-agent is not on PATH");
  });

  it("suggests what it finds, and Enter takes the first agent", async () => {
    const p = createProject();
    p.agent([]);
    p.write("package.json", '{"scripts":{"test":"node --test"}}');
    const terminal = await start(p);
    await terminal.shows("Found on this machine: claude");
    await answer(terminal, [[AGENT, ""], ...REST.slice(0, 3)]);
    await terminal.shows("Found in this project: npm test");
    await answer(terminal, REST.slice(3));
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({
      agent: { command: "claude" },
      guardrails: [],
    });
  });

  it("keeps answers that were pasted ahead for their questions", async () => {
    const p = createProject();
    const terminal = await start(p);
    await terminal.shows(AGENT);
    terminal.type("codex\n\n7\n\n\nn\n");
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({
      agent: { command: "codex" },
      maximumIterations: 7,
      guardrails: [],
    });
  });

  it.each([
    ["Ctrl+C", "C-c"],
    ["the end of the input", "C-d"],
  ])("writes nothing at %s and exits with 130", async (_, key) => {
    const p = createProject();
    const terminal = await start(p);
    await answer(terminal, [[AGENT, "claude"]]);
    await terminal.shows(FLAGS);
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
    expect(terminal.screen()).toContain('  "maximumIterations": 3,\n');
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
