import { expect, test } from "vitest";
import type { RunFinished, StopReason } from "../../src/events.js";
import { createFormatter } from "../../src/views/format.js";
import { summaryLines } from "../../src/views/summary.js";
import { runFinished } from "./events.js";

const RECORDS = "/home/dev/.ralph/runs/r1";

function summary(fields: Partial<RunFinished>, useEmoji = true): string[] {
  const format = createFormatter({ useEmoji, useColor: false });
  return summaryLines(runFinished(fields), { records: RECORDS, resumable: true }, format);
}

test("a run that has come to its limit says what it took, and how to go on", () => {
  expect(summary({}, false)).toEqual([
    "[ERR] Stopped: the maximum number of iterations was reached",
    "  reason     max_iterations",
    "  iterations 3",
    "  time       6m7s",
    "  cost       $1.25",
    "  tokens     1.2M in / 45K out",
    "  files      2 changed",
    `  log        ${RECORDS}`,
    "  resume     ralph resume r1 --max-iterations N",
  ]);
});

test("what nobody knows is left out, and no command goes on with what is completed", () => {
  const unknown = { costUsd: null, inputTokens: 0, outputTokens: 0, filesChanged: null };
  expect(summary({ ...unknown, success: true, reason: "completed", exitCode: 0 })).toEqual([
    "✅ Completed",
    "  reason     completed",
    "  iterations 3",
    "  time       6m7s",
    `  log        ${RECORDS}`,
  ]);
  expect(summary({ costUsd: 0, filesChanged: 0 }).slice(4, 7)).toEqual([
    "  cost       $0.00",
    "  tokens     1.2M in / 45K out",
    "  files      0 changed",
  ]);
});

const ENDINGS: [reason: StopReason, title: string, resume: string][] = [
  ["max_iterations", "Stopped: the maximum number of iterations was reached", " --max-iterations N"],
  ["budget_exhausted", "Stopped: the budget is exhausted", " --max-cost USD (or --max-tokens N)"],
  ["timeout", "Stopped: the time is up", " --max-time DURATION"],
  ["agent_failed", "Stopped: the agent failed", ""],
  ["stuck", "Stopped: stuck, the same failure again and again", ""],
  ["gutter", "Stopped: the gate failed too many times", ""],
  ["blocked", "Stopped: the agent needs an answer", ""],
  ["violation", "Stopped: the agent broke the rules", ""],
  ["interrupted", "Interrupted", ""],
  ["error", "Stopped by an error", ""],
];

test.each(ENDINGS)("%s", (reason, title, resume) => {
  const lines = summary({ reason });
  expect([lines[0], lines[1], lines.at(-1)]).toEqual([
    `❌ ${title}`,
    `  reason     ${reason}`,
    `  resume     ralph resume r1${resume}`,
  ]);
});

test.each([
  [{ reason: "blocked", limit: "max_iterations" }, " --max-iterations N"],
  [
    { reason: "budget_exhausted", limit: "max_iterations" },
    " --max-iterations N --max-cost USD (or --max-tokens N)",
  ],
] satisfies [Partial<RunFinished>, string][])("to go on, %j needs%s", (fields, flags) => {
  expect(summary(fields).at(-1)).toBe(`  resume     ralph resume r1${flags}`);
});

test("what nothing can go on with has no command for that", () => {
  expect(summary({ reason: "error", final: true }).at(-1)).toBe(`  log        ${RECORDS}`);
});

test("a message explains the reason, in one line that cannot steer the terminal", () => {
  expect(summary({ reason: "agent_failed", message: "\u001b[2JAPI Error: 500\nstack" })[1]).toBe(
    "  reason     agent_failed (API Error: 500)",
  );
});
