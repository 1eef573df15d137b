import { expect, test } from "vitest";
import type { Limits, RunFinished, StopReason } from "../../src/events.js";
import type { RunState } from "../../src/records/run-state.js";
import { createConsoleFormatter } from "../../src/views/agent-lines.js";
import { createFormatter } from "../../src/views/figures.js";
import * as layout from "../../src/views/layout.js";
import { summaryLines } from "../../src/views/summary.js";
import { LIMITS } from "../kit.js";
import { checked, folded, runFinished } from "./events.js";

const RECORDS = "/home/dev/.ralph/runs/r1";

function summary(fields: Partial<RunFinished>, useEmoji = true, state: Partial<RunState> = {}): string[] {
  const format = createFormatter({ useEmoji, useColor: false });
  return summaryLines(runFinished(fields), { records: RECORDS, resumable: true }, state, format);
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
  ["interrupted", "Interrupted by you", ""],
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

const NONE = { maxCostUsd: null, maxTokens: null, maxTimeMs: null };

test.each<[Partial<RunFinished>, Partial<Limits>, string]>([
  [{ reason: "max_iterations" }, {}, "Stopped: iterations, 3 of 3"],
  [{ reason: "budget_exhausted", costUsd: 5.0200000001 }, { maxCostUsd: 5 }, "Stopped: cost, $5.02 of $5.00"],
  [{ reason: "budget_exhausted", costUsd: 0.1 + 0.2 }, { maxCostUsd: 0.3 }, "Stopped: cost, $0.30 of $0.30"],
  [{ reason: "budget_exhausted" }, { maxTokens: 1_000_000 }, "Stopped: tokens, 1.2M of 1M"],
  [{ reason: "timeout", durationMs: 602_000 }, { maxTimeMs: 600_000 }, "Stopped: time, 10m2s of 10m0s"],
])("a limit that was reached is named with its value: %j of %j", (fields, limits, title) => {
  expect(summary(fields, true, { limits: { ...LIMITS, ...NONE, ...limits } })[0]).toBe(`❌ ${title}`);
});

test("a loop that only went round so many times has proved nothing, and does not say so", () => {
  const [title] = summary({ exitCode: 0, iterations: 4 }, true, { limits: LIMITS });
  expect(title).toBe("⚠️ Stopped after 4 of 4 iterations; nothing was verified");
});

test("the first test that failed is named", () => {
  const output = "ok 1 - error\nnot ok 2 - adds\nnot ok 3 - divides\n";
  const failed = checked({ command: "npm test", passed: false, exitCode: 1, output });
  const { iteration } = folded([...checked(), ...failed], (_, state) => state).at(-1) ?? {};
  expect(summary({}, true, { iteration })).toContain("  failing    npm test: not ok 2 - adds");
  expect(summary({ success: true, exitCode: 0 }, true, { iteration }).join("\n")).not.toContain("failing");
});

test("on a terminal, long reasons with tabs and wide characters hang below, and commands stay whole", () => {
  const format = createConsoleFormatter({
    ...{ useEmoji: true, useColor: false, showTimestamp: false, showProgress: false },
    ...{ maxOutputLines: 5, maxOutputChars: 500, terminal: { columns: 40, layout } },
  });
  const message = `\tほげ ほげ ほげ ほげ ほげ ほげ ほげ\tほげ ほげ ほげ ${"x ".repeat(50)}`;
  const records = `/${"long/".repeat(20)}`;
  const lines = summaryLines(runFinished({ message }), { records, resumable: true }, {}, format);
  const whole = lines.filter((line) => layout.widthOf(line) >= 40);
  expect(whole).toEqual([
    "❌ Stopped: the maximum number of iterations was reached",
    `  log        ${records}`,
    expect.stringContaining("ralph resume r1"),
  ]);
  expect(lines.join("")).not.toContain("\t");
});
