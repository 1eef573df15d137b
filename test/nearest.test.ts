import { expect, test } from "vitest";
import { nearest } from "../src/words.js";

const AGENTS = ["claude", "codex", "amp", "gemini", "opencode"];

const WORDS: [word: string, candidates: string[], meant: string | undefined][] = [
  ["claude", AGENTS, "claude"],
  ["cluade", AGENTS, "claude"],
  ["Claude", AGENTS, "claude"],
  ["claud", AGENTS, "claude"],
  ["codexx", AGENTS, "codex"],
  ["opencod", AGENTS, "opencode"],
  ["maxIteration", ["maxIterations", "completionResponse"], "maxIterations"],
  ["vim", AGENTS, undefined],
  ["something-else", AGENTS, undefined],
  ["claude", [], undefined],
  ["", AGENTS, undefined],
];

test.each(WORDS)("%j among %j means %j", (word, candidates, meant) => {
  expect(nearest(word, candidates)).toBe(meant);
});
