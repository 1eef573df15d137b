import { existsSync } from "node:fs";
import { type LockHolder, lockHolder } from "./lock.js";
import type { RunState } from "./run-state.js";

export type RunStatus = "running" | "paused" | "waiting" | "crashed" | "finished";

/** Where a run stands. One that is not closed and that nobody works at has crashed. */
export function runStatus(
  home: string,
  run: string,
  workspace: string,
  recorded: RunState["status"] | undefined,
): RunStatus {
  if (recorded === "finished") return "finished";
  return isAtWork(home, run, workspace) ? (recorded ?? "running") : "crashed";
}

/** Whether a living loop works at this very run. */
export function isAtWork(home: string, run: string, workspace: string): boolean {
  return loopOf(home, run, workspace) !== undefined;
}

/** The process that works at a run: it holds the lock of the folder, or one of its own where it shares it. */
export function loopOf(home: string, run: string, workspace: string): LockHolder | undefined {
  const own = lockHolder(home, { workspace, sharedBy: run });
  if (own !== undefined || !existsSync(workspace)) return own;
  const holder = lockHolder(home, { workspace });
  return holder?.run === run ? holder : undefined;
}
