import { expect, test } from "vitest";
import { RESULTS, resultFilter, resultOf } from "../../src/records/result.js";
import type { StopReason } from "../../src/stop-reasons.js";

const end = (reason: StopReason, tokens = 0) => ({ reason, inputTokens: tokens, outputTokens: 0 });
const question = { kind: "question", text: "Which port?" };

test.each<[string, string]>([
  ["waiting", "waiting: limit"],
  ["crashed", "cut off"],
  ["stopped", "interrupted"],
])("what is %s without an end is %s", (status, result) => {
  expect(resultOf(status)).toBe(result);
});

test.each<[StopReason, string]>([
  ["completed", "done"],
  ["all_checks_passed", "done"],
  ["gutter", "failed: checks"],
  ["agent_failed", "failed: agent"],
  ["max_iterations", "stopped: iterations"],
  ["budget_exhausted", "stopped: cost"],
  ["timeout", "stopped: time"],
  ["blocked", "blocked"],
  ["stuck", "stuck"],
  ["violation", "violation"],
  ["interrupted", "interrupted"],
  ["error", "error"],
])("a run that ended for %s is %s", (reason, result) => {
  expect([resultOf("finished", end(reason)), RESULTS.includes(result)]).toEqual([result, true]);
});

test.each<[string, number | null, number | null, number]>([
  ["stopped: tokens", null, 100, 90],
  ["stopped: tokens", 5, 100, 100],
  ["stopped: cost", 5, 100, 90],
])("a budget is %s with a cost of %s and %s tokens at most", (result, maxCostUsd, maxTokens, used) => {
  expect(resultOf("finished", end("budget_exhausted", used), { maxCostUsd, maxTokens })).toBe(result);
});

test("a run that waits for an answer says so", () => {
  expect(resultOf("finished", { ...end("blocked"), question })).toBe("blocked: question");
});

test("a reason of a later release is shown as it is", () => {
  expect(resultOf("finished", end("later" as StopReason))).toBe("later");
});

test.each<[string, string[]]>([
  ["done", ["done"]],
  ["failed", ["failed: checks", "failed: agent"]],
  ["failed:checks", ["failed: checks"]],
  ["Blocked,stuck", ["stuck", "blocked", "blocked: question"]],
  ["cut-off", ["cut off"]],
])("--status %s finds %j", (words, found) => {
  const isWanted = resultFilter(words);
  expect(RESULTS.filter((result) => isWanted?.(result)).sort()).toEqual(found.sort());
});

test.each(["happy", "", "done,", "failed: luck"])("--status %j finds nothing that there is", (words) => {
  expect(resultFilter(words)).toBeUndefined();
});
