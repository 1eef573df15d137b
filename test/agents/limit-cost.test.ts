import { describe, expect, test } from "vitest";
import { usageLimit } from "../../src/agents/limit.js";
import { limitOnScreen } from "../../src/agents/limit-screen.js";
import { tellsOfLimit } from "../../src/agents/limit-text.js";
import { emptyReport } from "../../src/agents/report.js";
import { resetTime } from "../../src/agents/reset-time.js";

const NOW = new Date("2026-11-15T12:00:00Z");
const CHARS = 100_000;
/** Usual is less than a tenth of it. */
const MOST_MS = 500;

const PIECES = [
  ..." \t\n\v7,.|:(;\u001b",
  ...["resets ", "resets at ", "try again in ", "retry after ", "wait 1s ", "1 day and ", "limit ", "your "],
  ...["error: ", "429 ", "1pm, ", "Nov 16 ", "16 of ", "1.1", "x\n", " \n", "rate ", "\u001b[;", "─\n"],
];
const HOSTILE = PIECES.map((piece) => piece.repeat(Math.ceil(CHARS / piece.length)).slice(0, CHARS));
const STARTS = ["", "resets", "resets at 5pm", "You've hit your limit"];

describe("100 kB of nothing are read at once", () => {
  test.each(STARTS)("after %j", (start) => {
    for (const text of HOSTILE.map((rest) => `${start}${rest}!`)) {
      const slow = Object.entries(readers(text)).filter(([, read]) => cpuMs(read) > MOST_MS);
      expect([text.slice(0, 40), slow.map(([name]) => name)]).toEqual([text.slice(0, 40), []]);
    }
  });
});

function readers(text: string): Record<string, () => unknown> {
  const ending = { error: text, stopped: null, finalMessage: text, stderr: text };
  const told = { ...emptyReport(), error: text, stray: text };
  return {
    resetTime: () => resetTime(text, NOW, "UTC"),
    tellsOfLimit: () => tellsOfLimit(text),
    usageLimit: () => usageLimit(told, { ...ending, isPlain: false }, NOW),
    usageLimitOfCommand: () => usageLimit(emptyReport(), { ...ending, isPlain: true }, NOW),
    limitOnScreen: () => limitOnScreen("codex", `${text}\n› x`),
  };
}

function cpuMs(action: () => void): number {
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
