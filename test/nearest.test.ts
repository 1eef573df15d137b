import { expect, test } from "vitest";
import { nearest } from "../src/words.js";

const AGENTS = ["claude", "codex", "amp", "gemini", "opencode"];

const WORDS: [word: string, candidates: string[], meant: string | undefined][] = [
  ["cluade", AGENTS, "claude"],
  ["Claude", AGENTS, "claude"],
  ["claud", AGENTS, "claude"],
  ["maxIteration", ["maxIterations", "completionResponse"], "maxIterations"],
  ["vim", AGENTS, undefined],
  ["something-else", AGENTS, undefined],
  ["", AGENTS, undefined],
];

test.each(WORDS)("%j among %j means %j", (word, candidates, meant) => {
  expect(nearest(word, candidates)).toBe(meant);
});
