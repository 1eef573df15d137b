import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { emptyReport } from "../../src/agents/report.js";
import { supervise } from "../../src/ask/call.js";

const RULES = {
  iterationTimeoutMs: null,
  inactivityTimeoutMs: 0,
  remaining: { costUsd: undefined, tokens: undefined, timeMs: undefined },
  fingerprint: async () => "",
  kill: new AbortController().signal,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("ends an agent that is there 15 seconds after its result, whatever else it writes", () => {
  const supervisor = supervise(RULES);
  const report = { ...emptyReport(), ended: true, closings: 1 };
  supervisor.heard(report);
  vi.advanceTimersByTime(14_000);
  supervisor.heard({ ...report, stray: "still here" });
  expect(supervisor.reason()).toBeNull();
  vi.advanceTimersByTime(1000);
  expect(supervisor.reason()).toBe("inactivity");
});

it("lets an agent go on whose subagents work, or that speaks again", () => {
  const supervisor = supervise(RULES);
  const report = { ...emptyReport(), ended: true, closings: 1 };
  supervisor.heard(report);
  vi.advanceTimersByTime(14_000);
  supervisor.heard({ ...report, steps: 1 });
  vi.advanceTimersByTime(14_000);
  supervisor.heard({ ...report, steps: 1, ended: false });
  vi.advanceTimersByTime(600_000);
  expect(supervisor.reason()).toBeNull();
  supervisor.end();
});
