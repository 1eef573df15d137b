import { describe, expect, it } from "vitest";
import type { LoopEvent, RunFinished } from "../../../src/events.js";
import { createNotices, type Notice } from "../../../src/views/notify/notice.js";

const ENVELOPE = { v: 1 as const, ts: "2026-01-01T00:00:00.000Z", run: "r" };

function ended(more: Partial<RunFinished>): LoopEvent {
  return {
    ...ENVELOPE,
    type: "run.finished",
    success: false,
    reason: "max_iterations",
    exitCode: 1,
    iterations: 2,
    costUsd: 0.5,
    inputTokens: 1,
    outputTokens: 1,
    durationMs: 1,
    filesChanged: 0,
    worktree: null,
    ...more,
  };
}

/** An event of a later release, as it comes from a journal. */
function other(event: object): LoopEvent {
  return JSON.parse(JSON.stringify({ ...ENVELOPE, ...event })) as LoopEvent;
}

const TOLD: Notice = {
  run: "r",
  name: null,
  event: "failed",
  reason: "max_iterations",
  iterations: 2,
  costUsd: 0.5,
  message: "Stopped: the maximum number of iterations was reached",
};

describe("a notice", () => {
  it.each<[string, Partial<RunFinished>, Partial<Notice>]>([
    [
      "success is finished",
      { success: true, reason: "completed", exitCode: 0 },
      { event: "finished", reason: "completed", message: "Completed" },
    ],
    ["a limit is a failure", {}, {}],
    [
      "a worker that went round as often as it was told to is finished",
      { exitCode: 0 },
      { event: "finished", message: "Done: as many iterations as were asked for, and nothing was verified" },
    ],
    [
      "a question is blocked, and told",
      { reason: "blocked", message: "the agent asks: Postgres or SQLite?" },
      { event: "blocked", reason: "blocked", message: "the agent asks: Postgres or SQLite?" },
    ],
    [
      "an interrupted run has failed",
      { reason: "interrupted", exitCode: 130 },
      { reason: "interrupted", message: "Interrupted" },
    ],
    ["its message is one harmless line", { message: "a\n\u001b[31mb\u001b[0m\u0007" }, { message: "a b" }],
    ["its message is short", { message: "x".repeat(600) }, { message: `${"x".repeat(499)}…` }],
    ["a cost that nobody knows is null", { costUsd: null }, { costUsd: null }],
  ])("%s", (_, event, expected) => {
    expect(createNotices(null)(ended(event))).toEqual({ ...TOLD, ...expected });
  });

  it("of a wait says until when, and what was spent so far", () => {
    const noticeOf = createNotices("docs", 1);
    expect(noticeOf(other({ type: "run.resumed", iterations: 3 }))).toBeUndefined();
    expect(noticeOf(other({ type: "limit.waiting" }))).toMatchObject({ iterations: 3, costUsd: 1 });
    expect(
      noticeOf(other({ type: "iteration.finished", iteration: 4, totals: { costUsd: 0.1 } })),
    ).toBeUndefined();
    expect(noticeOf(other({ type: "agent.finished", costUsd: 0.05 }))).toBeUndefined();
    expect(noticeOf(other({ type: "limit.waiting", until: "2026-01-01T05:00:00Z" }))).toEqual({
      run: "r",
      name: "docs",
      event: "waiting",
      reason: "usage_limit",
      iterations: 4,
      costUsd: 0.15,
      message: "Waiting for a usage limit to end until 2026-01-01T05:00:00Z",
    });
  });
});
