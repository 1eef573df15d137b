import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allAgents } from "../../src/agents/index.js";
import { limitOnScreen } from "../../src/agents/limit.js";

const AGENTS = await allAgents();

function seen(name: string): string | undefined {
  const screen = readFileSync(join(import.meta.dirname, `../fixtures/screens/${name}.txt`), "utf8");
  return limitOf(name.split("/")[0] ?? "", screen);
}

function limitOf(name: string, screen: string): string | undefined {
  const agent = AGENTS.find((one) => one.name === name);
  return agent && limitOnScreen(agent, screen, new Date())?.message;
}

const CLAUDE =
  "⚠ Usage limit reached · limit resets 6:58pm Continuing automatically at 6:58pm · Esc to cancel";
const CODEX =
  /^You’ve hit your usage limit\. Upgrade to Pro .* to purchase more credits or try again at 8:15 PM\.$/;

describe("a usage limit on a screen", () => {
  test.each([
    ["claude/2.1.325/limit", CLAUDE],
    ["claude/2.1.325/limit-later", CLAUDE],
    ["claude/2.1.325/limit-narrow", CLAUDE],
  ])("is in the footer of %s", (name, words) => {
    expect(seen(name)).toBe(words);
  });

  test.each(["codex/0.166.0/limit", "codex/0.166.0/limit-narrow"])("is the error in %s", (name) => {
    expect(seen(name)).toMatch(CODEX);
  });

  test.each([
    // The agent itself shows words of its model like these: nobody can tell them apart.
    "claude/2.1.325/talks-of-limit",
    "claude/2.1.325/limit-dismissed",
    "claude/2.1.325/refused",
    "codex/0.166.0/talks-of-limit",
    "shell/bash",
  ])("is not in %s", (name) => {
    expect(seen(name)).toBeUndefined();
  });

  const input = "─".repeat(40);
  test.each([
    ["claude", `${input}\n❯ \n${input}\n  ⚠ Approaching usage limit · resets at 7pm`],
    ["claude", `  ⚠ Usage limit reached · limit resets 6:58pm\n${input}\n❯ \n${input}\n  ? for shortcuts`],
    ["codex", "■ You’ve hit your usage limit. Try again at 8:15 PM.\n\n• I go on.\n\n› Ask\n\n  x"],
    ["codex", "■ Conversation interrupted\n\n› Ask Codex to do anything\n\n  x"],
  ])("of %s is not %j", (name, screen) => {
    expect(limitOf(name, screen)).toBeUndefined();
  });
});
