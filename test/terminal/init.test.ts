import { describe, expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";
import { openTerminal, type Terminal } from "./tmux.js";

/** Answers each question when it is asked. */
async function answer(terminal: Terminal, dialogue: [question: string, answer: string][]): Promise<void> {
  for (const [question, text] of dialogue) {
    await terminal.shows(new RegExp(`${question.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")} *\\n*$`));
    terminal.type(text);
    terminal.press("Enter");
  }
}

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
      ["Agent command (e.g., claude, codex, amp, or other LLM CLI):", "claude"],
      ["Agent flags (comma-separated, optional):", " --model , opus,, "],
      ["Maximum iterations [10]:", ""],
      ["Completion response [DONE]:", ""],
      ["Add guardrail command (leave blank to finish):", "make lint"],
      ["  Fail action (APPEND|PREPEND|REPLACE):", "append"],
      ["  Hint (optional, guidance for agent on failure):", "Fix lint errors only. Do not change behavior."],
      ["Add guardrail command (leave blank to finish):", "make test"],
      ["  Fail action (APPEND|PREPEND|REPLACE):", "Replace"],
      ["  Hint (optional, guidance for agent on failure):", ""],
      ["Add guardrail command (leave blank to finish):", ""],
      ["Configure SCM? (y/N):", "y"],
      ["  SCM command (e.g., git):", "git"],
      ["  SCM tasks (comma-separated, e.g., commit,push):", "commit, push"],
    ]);
    await ended(terminal, 0);
    expect(terminal.screen()).toContain("\n\nSettings written to .ralph/settings.json\n");
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
    await answer(terminal, [
      ["or other LLM CLI):", "  "],
      ["A command is needed.\nAgent command (e.g., claude, codex, amp, or other LLM CLI):", 'my "agent'],
      ["or other LLM CLI):", "my-agent"],
      ["Agent flags (comma-separated, optional):", ""],
      ["Maximum iterations [10]:", "0"],
      ["Not a positive whole number: 0\nMaximum iterations [10]:", "1.5"],
      ["Not a positive whole number: 1.5\nMaximum iterations [10]:", "-3"],
      ["Not a positive whole number: -3\nMaximum iterations [10]:", "25"],
      ["Completion response [DONE]:", "READY"],
      ["Add guardrail command (leave blank to finish):", "true"],
      ["  Fail action (APPEND|PREPEND|REPLACE):", ""],
      ["  Fail action (APPEND|PREPEND|REPLACE):", "INSERT"],
      ["  Fail action (APPEND|PREPEND|REPLACE):", "prepend"],
      ["  Hint (optional, guidance for agent on failure):", ""],
      ["Add guardrail command (leave blank to finish):", ""],
      ["Configure SCM? (y/N):", ""],
    ]);
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({
      maximumIterations: 25,
      completionResponse: "READY",
      agent: { command: "my-agent", flags: [] },
      guardrails: [{ command: "true", failAction: "PREPEND" }],
    });
    expect(terminal.screen()).toContain("ralph: warning: my-agent is not on PATH");
  });

  it("suggests what it finds, and Tab fills it in", async () => {
    const p = createProject();
    p.agent([]);
    p.write("package.json", '{"scripts":{"test":"node --test"}}');
    const terminal = await start(p);
    await terminal.shows("Found on this machine: claude");
    await terminal.shows("or other LLM CLI):");
    terminal.press("Tab");
    await terminal.shows("or other LLM CLI): claude");
    terminal.press("Enter");
    await answer(terminal, [
      ["optional):", ""],
      ["Maximum iterations [10]:", ""],
      ["Completion response [DONE]:", ""],
    ]);
    await terminal.shows("Found in this project: npm test");
    await terminal.shows("Add guardrail command (leave blank to finish):");
    terminal.press("Tab");
    await terminal.shows("(leave blank to finish): npm test");
    terminal.press("C-c");
    await ended(terminal, 130);
    expect(p.exists(".ralph")).toBe(false);
  });

  it.each([
    ["Ctrl+C", "C-c"],
    ["the end of the input", "C-d"],
  ])("writes nothing at %s and exits with 130", async (_, key) => {
    const p = createProject();
    const terminal = await start(p);
    await answer(terminal, [["or other LLM CLI):", "claude"]]);
    await terminal.shows("Agent flags (comma-separated, optional):");
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
    await answer(terminal, [["Overwrite? (y/N):", ""]]);
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
    await answer(terminal, [["Loaded from .ralph/settings.json\nOverwrite? (y/N):", "y"]]);
    await terminal.shows("or other LLM CLI):");
    terminal.press("C-c");
    await ended(terminal, 130);
    expect(p.read(".ralph/settings.json")).toBe(before);
    terminal.type("clear; ralph init; echo code $?\n");
    await answer(terminal, [["Overwrite? (y/N):", "YES"]]);
    await answer(terminal, [
      ["or other LLM CLI):", "new"],
      ["optional):", ""],
      ["[10]:", ""],
      ["[DONE]:", ""],
      ["to finish):", ""],
      ["(y/N):", ""],
    ]);
    await ended(terminal, 0);
    expect(JSON.parse(p.read(".ralph/settings.json"))).toMatchObject({ agent: { command: "new" } });
  });
});
