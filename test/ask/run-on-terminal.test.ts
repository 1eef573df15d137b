import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claude } from "../../src/agents/claude.js";
import {
  runOnTerminal,
  type Terminal,
  type TerminalExit,
  type TerminalSetup,
} from "../../src/ask/run-on-terminal.js";
import { createProject } from "../kit.js";
import { setupFor, UNLIMITED } from "./setup.js";

const LIMIT = join(import.meta.dirname, "../fixtures/screens/claude/2.1.325/limit.txt");

/** A terminal that shows one screen, until the prompt is typed. */
function showing(screen: string): { terminal: Terminal; leave: () => void } {
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  async function* output(): AsyncGenerator<Buffer, TerminalExit> {
    await left;
    return { exitCode: 0 };
  }
  const terminal = {
    output: output(),
    screen: async () => screen,
    type: async () => {},
    close: async () => {},
  };
  return { terminal, leave };
}

test("a limit on the screen of an agent that is typed to is no answer", async () => {
  const p = createProject();
  const { terminal, leave } = showing(readFileSync(LIMIT, "utf8"));
  const setup: TerminalSetup = {
    ...setupFor(p, "claude"),
    agent: claude,
    terminal: { open: async () => terminal },
    promptVia: "keys",
    async typePrompt({ screen }) {
      await screen();
      leave();
      return undefined;
    },
  };
  const asked = runOnTerminal(setup, { iteration: 1, attempt: 1, prompt: "x", remaining: UNLIMITED });
  let step = await asked.next();
  while (!step.done) step = await asked.next();
  const message =
    "⚠ Usage limit reached · limit resets 6:58pm Continuing automatically at 6:58pm · Esc to cancel";
  expect(step.value).toMatchObject({
    error: message,
    limit: { message, resetsAt: expect.stringMatching(/:58:00/) as string },
  });
});
