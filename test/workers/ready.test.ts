import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Readiness } from "../../src/agents/agent.js";
import { allAgents } from "../../src/agents/index.js";
import { readiness } from "../../src/workers/type-prompt.js";

const AGENTS = (await allAgents()).flatMap(({ screen }) => screen ?? []);
const SCREENS = join(import.meta.dirname, "../fixtures/screens");

/** Of each program: the names of its recorded screens, by what they show. */
const SCREENS_OF: Record<string, Record<string, string>> = {
  "amp/0.0.1774569934": {
    waiting: "busy",
    ready: "ready",
    "Amp asks to sign in: run amp once by hand": "sign-in",
  },
  "claude/2.1.325": {
    "Claude Code asks whether to use ANTHROPIC_API_KEY: run claude once by hand": "api-key",
    waiting: "busy busy-narrow",
    "Claude Code warns of its bypass-permissions mode: run claude with it once by hand and accept":
      "bypass-permissions",
    ready:
      "limit limit-dismissed limit-later limit-narrow ready ready-again ready-bypass ready-named ready-narrow ready-wide refused talks-of-limit typed",
    "Claude Code is not signed in: run claude once by hand, and /login in it": "not-logged-in",
    'it asks "Do you want to proceed?": answer once by hand': "permission",
    "Claude Code shows its security notes: run claude once by hand": "security-notes",
    "Claude Code asks to sign in: run claude once by hand": "sign-in sign-in-browser",
    "Claude Code asks for a theme: run claude once by hand": "theme theme-narrow",
    "Claude Code asks whether to trust this folder: run claude in it once by hand": "trust",
  },
  "codex/0.166.0": {
    "Codex asks for an API key: run codex once by hand": "api-key",
    waiting: "busy busy-narrow",
    ready: "limit limit-narrow talks-of-limit ready ready-again ready-narrow ready-wide typed",
    "Codex asks whether to change the model: run codex once by hand": "new-model new-model-narrow",
    "Codex asks to sign in: run codex once by hand": "sign-in sign-in-narrow",
    "Codex asks whether to trust this folder: run codex in it once by hand": "trust",
    "Codex asks whether to update: run codex once by hand": "update",
  },
  "gemini/0.61.0": {
    waiting: "busy",
    ready: "ready",
    "Gemini asks to sign in: run gemini once by hand": "sign-in",
    "Gemini asks whether to trust this folder: run gemini in it once by hand": "trust",
  },
  "opencode/1.18.33": {
    waiting: "busy busy-narrow commands",
    "OpenCode asks for a provider: run opencode once by hand": "connect",
    ready: "ready ready-again-wide ready-narrow ready-no-provider ready-wide",
  },
  shell: {
    ready: "arrow bash bash-path bash-user dash dash-user fish node-repl python zsh zsh-theme zsh-user",
    waiting: "bash-busy fish-busy python-busy",
  },
};
const RECORDED: Record<string, string> = Object.fromEntries(
  Object.entries(SCREENS_OF).flatMap(([folder, shown]) =>
    Object.entries(shown).flatMap(([state, names]) =>
      names.split(" ").map((name) => [`${folder}/${name}`, state]),
    ),
  ),
);

describe("a recorded screen", () => {
  it("is in the table below, each of them", () => {
    const files = readdirSync(SCREENS, { recursive: true, encoding: "utf8" });
    const names = files.filter((file) => file.endsWith(".txt")).map((file) => file.slice(0, -".txt".length));
    expect(names.sort()).toEqual(Object.keys(RECORDED).sort());
  });

  it.each(Object.entries(RECORDED))("%s: %s", (name, expected) => {
    expect(told(readiness(screen(name), AGENTS))).toBe(expected);
  });

  it.each(named("ready"))("%s is not ready with another program's output below", (name) => {
    const later = `${screen(name).trimEnd()}\n$ make\ncc -c main.c\n  warning: unused variable\n`;
    expect(readiness(later, AGENTS)).toEqual({ state: "waiting" });
  });

  it.each(Object.keys(RECORDED))("%s does not count where it has scrolled away", (name) => {
    const output = Array.from({ length: 20 }, (_, at) => `compiling file ${at}.c`).join("\n");
    expect(readiness(`${screen(name)}\n${output}\n`, AGENTS)).toEqual({ state: "waiting" });
    expect(readiness(`${screen(name)}\n${output}\nme@pc:~$ \n\n`, AGENTS)).toEqual({ state: "ready" });
  });
});

describe("the last line of a screen", () => {
  it.each([
    "$",
    ">",
    "➜",
    "me@pc:~$",
    "me@pc:~/my project$",
    "[root@pc ~]#",
    "bash-5.2$",
    "me@pc ~/p> ",
    "me@pc ~/p (main)>",
    "project on  main [!?] ❯",
    "➜  project",
    "➜  project git:(main) ✗",
    "PS /home/me>",
  ])("%j is a prompt", (line) => {
    expect(readiness(`some output\n\n${line}\n\n\n`, AGENTS)).toEqual({ state: "ready" });
  });

  it.each([
    "",
    "Downloading 45%",
    "progress=100%",
    "######",
    "<html>",
    "a => b =>",
    "written in C#",
    "see https://example.org/page#",
    "$ make",
    "me@pc:~$ sleep 100",
    "➜  project git:(main) make test",
    "...",
    "│ >",
    "Starting Codex",
  ])("%j is none", (line) => {
    expect(readiness(`me@pc:~$ run\n${line}`, AGENTS)).toEqual({ state: "waiting" });
  });

  it.each<[string, string]>([
    ["[sudo] password for me:", "it asks for a password: enter it once by hand"],
    ["OpenAI API key:", "it asks for an API key: enter it once by hand"],
    ["Ok to proceed? (y)", "waiting"],
    ["Install it? [Y/n]", 'it asks "Install it? [Y/n]": answer once by hand'],
    ["Enter your choice >", 'it asks "Enter your choice >": answer once by hand'],
    ["Press Enter to continue", 'it asks "Press Enter to continue": answer once by hand'],
  ])("%j: %s", (line, expected) => {
    expect(told(readiness(`hello\n${line}\n`, AGENTS))).toBe(expected);
  });
});

describe("a screen of another release", () => {
  const rule = "─".repeat(60);

  it.each<[string, string, string]>([
    ["nothing", "", "waiting"],
    ["an input with a hint in it", `${rule}\n> Try "fix the tests"\n${rule}\n  ? for shortcuts`, "ready"],
    ["an input without a footer", `${rule}\n❯\n${rule}`, "ready"],
    ["several lines typed", `${rule}\n❯ one\n  two\n  three\n${rule}\n  ? for shortcuts`, "ready"],
    ["a spinner alone", `✶ Fixing the parser… (12s · ↓ 3k tokens)\n${rule}\n❯\n${rule}`, "waiting"],
    ["a box", "╭──────╮\n│ >    │\n╰──────╯\n  ? for shortcuts", "ready"],
    [
      "the old question of trust",
      "│ Do you trust the files in this folder? │\n│ ❯ 1. Yes, proceed │\n│   2. No, exit │\n  Enter to confirm",
      "Claude Code asks whether to trust this folder: run claude in it once by hand",
    ],
    [
      "a question that is broken in two",
      "  A new release is available. Would you\n  like to update now?\n    Skip   Confirm      esc",
      "OpenCode asks whether to update: run opencode once by hand",
    ],
    [
      "a question that nobody knows",
      "Which colour?\n❯ 1. Red\n  2. Blue\nEnter to select",
      'it asks "Which colour?": answer once by hand',
    ],
    ["words of a dialog in a listing", "select login method\nchecking\n", "waiting"],
  ])("with %s: %s", (_, text, expected) => {
    expect(told(readiness(text, AGENTS))).toBe(expected);
  });
});

function screen(name: string): string {
  return readFileSync(join(SCREENS, `${name}.txt`), "utf8");
}

function told(found: Readiness): string {
  return found.state === "blocked" ? found.why : found.state;
}

function named(state: string): string[] {
  return Object.keys(RECORDED).filter((name) => RECORDED[name] === state);
}
