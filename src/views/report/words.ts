import type { RunStatus } from "../../state/run-status.js";
import { firstLine, harmless } from "../harmless.js";
import { titleOfReason } from "../summary.js";
import type { IterationReport } from "./iterations.js";
import type { Report } from "./model.js";

/** What every form of the report says in the same words. */

const STANDINGS: Record<RunStatus, string> = {
  running: "Still running",
  paused: "Paused",
  crashed: "Cut off: ralph was killed before it could finish",
  finished: "Finished",
};

/** What came of the run; as long as it has not ended, where it stands. */
export function titleOf({ reason, status }: Report): string {
  return reason === null ? STANDINGS[status] : titleOfReason(reason);
}

/** Whether it is done, may still become so, or has failed. */
export function standingOf({ success, status }: Report): "done" | "open" | "failed" {
  if (success) return "done";
  return status === "running" || status === "paused" ? "open" : "failed";
}

/** What came of an iteration, in a line; who was asked, where it was not the agent of the run. */
export function resultOf({ finished, mode, agent, reason }: IterationReport, run: Report): string {
  const result = finished ? harmless(firstLine(reason)) : "not finished";
  const by = agent === null || agent === run.agent ? "" : ` by ${harmless(agent)}`;
  return mode === null ? result : `${mode}${by}: ${result}`;
}

/** `2/3`: passed of all; undefined where there was none. */
export function passedOf({ checks }: IterationReport): string | undefined {
  const passed = checks.filter((check) => check.passed);
  return checks.length === 0 ? undefined : `${passed.length}/${checks.length}`;
}

/** One sign for a check in an iteration: passed, failed, not run. */
export function checkMark(
  { checks }: IterationReport,
  command: string,
  signs: [pass: string, fail: string],
): string {
  const own = checks.filter((check) => check.command === command);
  if (own.length === 0) return "·";
  return own.every(({ passed }) => passed) ? signs[0] : signs[1];
}
