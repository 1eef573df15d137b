import { wordsFor } from "../../baseline.js";
import { type IterationReport, wasNotRun } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import type { RunStatus } from "../../records/run-status.js";
import { titleOfReason } from "../../stop-reasons.js";
import { skippedWords } from "../checks.js";
import { firstLine, harmless } from "../harmless.js";

/** What every form of the report says in the same words. */

const STANDINGS: Record<RunStatus, string> = {
  running: "Still running",
  paused: "Paused",
  waiting: "Waiting for a usage limit to end",
  crashed: "Cut off: ralph was killed before it could finish",
  finished: "Finished",
};

/** What came of the run; as long as it has not ended, where it stands. */
export function titleOf({ reason, status, exitCode }: Report): string {
  return reason === null ? STANDINGS[status] : titleOfReason(reason, exitCode);
}

/** Whether it is done, may still become so, or has failed. */
export function standingOf({ exitCode, status }: Report): "done" | "open" | "failed" {
  if (exitCode === 0) return "done";
  return OPEN.includes(status) ? "open" : "failed";
}

const OPEN: RunStatus[] = ["running", "paused", "waiting"];

/** What came of an iteration, in a line. */
export function resultOf({ finished, mode, reason }: IterationReport): string {
  const result = finished ? harmless(firstLine(reason)) : "not finished";
  return mode === null ? result : `${mode}: ${result}`;
}

/** `2/3`: passed of all; undefined where there was none. */
export function passedOf({ checks }: IterationReport): string | undefined {
  const passed = checks.filter((check) => check.passed);
  return checks.length === 0 ? undefined : `${passed.length}/${checks.length}`;
}

/** One sign for a check in an iteration: passed, failed, passed before and not run again, not run. */
export function checkMark(
  { checks }: IterationReport,
  command: string,
  signs: [pass: string, fail: string],
): string {
  const own = checks.filter((check) => check.command === command && !wasNotRun(check));
  if (own.length === 0) return "·";
  if (own.every(({ skipped }) => skipped === "unchanged")) return SAME;
  return own.every(({ passed }) => passed) ? signs[0] : signs[1];
}

/** Whether it tells something who was asked: not always the agent of the run. */
export function hasOtherAgents({ agent: own, iterations }: Report): boolean {
  return iterations.some(({ agent }) => agent !== null && agent !== own);
}

const SAME = "=";

/** What the signs of skipped checks mean, where there are some. */
export function skippedLegend({ iterations }: Report): string | undefined {
  const why = new Set(iterations.flatMap(({ checks }) => checks.map(({ skipped }) => skipped)));
  const words = [
    ...(why.has("unchanged") ? [`${SAME} ${skippedWords("unchanged")}`] : []),
    ...(["after_failure", "untrusted"] as const).flatMap((one) =>
      why.has(one) ? [`· ${skippedWords(one)}`] : [],
    ),
  ];
  return words.length === 0 ? undefined : words.join("; ");
}

/** A fact that every form of a report shows. */
export function backgroundOf({ background }: Report): string | null {
  return background === undefined ? null : "kept: what agents and checks left running was not ended";
}

/** What has become of a check, where a baseline tells. */
export function becameIn({ baseline }: Report, command: string): string | undefined {
  const known = baseline.find((check) => check.command === command);
  return known && wordsFor(known);
}
