import { NOTHING_YET, type Watched, withRows } from "../../src/views/watch/watched.js";
import type { Glance } from "../../src/workers/glance.js";

/** A worker at work, with what a test is about. */
export function glance(parts: Partial<Glance> = {}): Glance {
  return {
    kind: "worker",
    name: "auth",
    run: null,
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

export function watching(rows: Glance[], parts: Partial<Watched> = {}): Watched {
  return withRows({ ...NOTHING_YET, ...parts }, rows);
}
