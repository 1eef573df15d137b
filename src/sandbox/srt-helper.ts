import { rmSync } from "node:fs";
import type { SandboxRuntimeConfig } from "@anthropic-ai/sandbox-runtime";
import { createLineSplitter } from "../process/output.js";
import { type HeldPath, removeStandIns } from "./held.js";

/**
 * The program that holds the sandbox-runtime library for one run. The library protects files of the folder
 * that its process is in, keeps one configuration per process, and ends its proxy at the first signal: none
 * of that fits the process of the loop. It goes when its input ends, also because the loop was killed, and
 * leaves nothing behind.
 */

const folders = process.argv.slice(2);
// The needed part of the library: all of it takes longer to load.
const library = import("@anthropic-ai/sandbox-runtime/dist/sandbox/sandbox-manager.js");
// The first answer reports the error.
library.catch(() => {});

/** The loop's questions. `begin` comes first, so that both sides prepare at the same time. */
export type HelperQuestion =
  | { begin: SandboxRuntimeConfig }
  | { wrap: string; config: SandboxRuntimeConfig; held: HeldPath[] }
  | { done: true };
/** `refused`: hosts that the sandbox refused to the agent since the last answer. */
export type HelperAnswer = { command: string; refused?: string[] } | { error: string };

let held: HeldPath[] = [];
const refused = new Set<string>();
const MOST_REFUSED = 100;

async function answer(question: HelperQuestion): Promise<HelperAnswer> {
  const { SandboxManager: manager } = await library;
  if ("begin" in question) {
    // Called for hosts that are not listed.
    await manager.initialize(question.begin, async ({ host, port }) => {
      const isUsual = port === undefined || port === 443 || port === 80;
      if (refused.size < MOST_REFUSED) refused.add(isUsual ? host : `${host}:${port}`);
      return false;
    });
    return { command: "" };
  }
  if ("wrap" in question) {
    ({ held } = question);
    manager.updateConfig(question.config);
    return { command: await manager.wrapWithSandbox(question.wrap) };
  }
  manager.cleanupAfterCommand();
  const hosts = [...refused];
  refused.clear();
  return { command: "", refused: hosts };
}

async function reply(line: string): Promise<void> {
  const question = JSON.parse(line) as HelperQuestion;
  const said = await answer(question).catch((error: Error) => ({ error: error.message }));
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

async function leave(): Promise<void> {
  try {
    await (await library).SandboxManager.reset();
  } finally {
    removeStandIns(held);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

// Output for a loop that is gone is lost; that is no failure.
process.stdout.on("error", () => {});
const lines = createLineSplitter();
let before = Promise.resolve();
process.stdin.on("data", (chunk: Buffer) => {
  for (const line of lines.push(chunk)) before = before.then(() => reply(line));
});
process.stdin.on("end", () => {
  void before.then(leave);
});
