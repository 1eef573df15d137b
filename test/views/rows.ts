import { NOTHING_YET, type WatchRow, type WatchState, withRows } from "../../src/views/watch/state.js";

/** A worker at work, with what a test is about. */
export function row(parts: Partial<WatchRow> = {}): WatchRow {
  return {
    kind: "worker",
    name: "auth",
    recipe: "prompt",
    status: "running",
    reason: null,
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

export function watching(rows: WatchRow[], parts: Partial<WatchState> = {}): WatchState {
  return withRows({ ...NOTHING_YET, ...parts }, rows);
}
