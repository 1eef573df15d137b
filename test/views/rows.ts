import { resultOf } from "../../src/records/result.js";
import type { StopReason } from "../../src/stop-reasons.js";
import { moved, NOTHING_YET, type WatchState } from "../../src/views/watch/state.js";
import type { LoopRow } from "../../src/workers/worker.js";

/** A worker at work, with what a test is about. */
export function row(parts: Partial<LoopRow> = {}): LoopRow {
  const { status = "running", reason = null, question = undefined } = parts;
  const end = { reason: (reason ?? "interrupted") as StopReason, inputTokens: 0, outputTokens: 0, question };
  return {
    kind: "worker",
    name: "auth",
    run: "20260101-100000-ab12",
    recipe: "prompt",
    status: "running",
    result: resultOf(status, end),
    reason: null,
    question: null,
    iteration: 3,
    maxIterations: 10,
    startedAt: "2026-01-01T10:00:00.000Z",
    activeMs: 367_400,
    costUsd: 1.2,
    lastLine: "tests pass",
    workspace: "/work",
    tags: [],
    ...parts,
  };
}

export function watching(rows: LoopRow[], parts: Partial<WatchState> = {}): WatchState {
  return moved({ ...NOTHING_YET, ...parts, rows }, 0);
}
