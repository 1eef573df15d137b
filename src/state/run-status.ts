import { existsSync } from "node:fs";
import { lockHolder } from "./lock.js";
import type { RunState } from "./run-state.js";

export type RunStatus = "running" | "paused" | "crashed" | "finished";

/** Where a run stands. One that is not closed and that nobody works at has crashed. */
export function runStatus(
  home: string,
  run: string,
  workspace: string,
  recorded: RunState["status"] | undefined,
): RunStatus {
  if (recorded === "finished") return "finished";
  const isAtWork = existsSync(workspace) && lockHolder(home, workspace)?.run === run;
  return isAtWork ? (recorded ?? "running") : "crashed";
}
