import { type CheckReport, hasFailed } from "../../records/iteration.js";
import type { Report } from "../../records/report.js";
import { endingOf } from "../figures.js";
import { harmless } from "../harmless.js";
import { markdownReport } from "./markdown.js";
import { becameIn, titleOf } from "./words.js";

/** Commands of GitHub Actions: what failed in the last iteration as errors, success as a notice. */
export function annotations(report: Report): string[] {
  if (report.exitCode === 0) return [command("notice", "ralph", titleOf(report))];
  const last = report.iterations.findLast(({ finished }) => finished);
  const failed = last?.checks.filter(hasFailed) ?? [];
  const reason = report.message === null ? titleOf(report) : `${titleOf(report)}: ${report.message}`;
  return [command("error", "ralph", reason), ...failed.map((check) => failure(check, report))];
}

function failure(check: CheckReport, report: Report): string {
  const output = check.output.trim();
  const became = becameIn(report, check.command);
  const how = [endingOf(check), ...(became === undefined ? [] : [became])].join(", ");
  return command("error", `${check.command} (${how})`, output === "" ? "no output" : output);
}

function command(kind: "notice" | "error", title: string, message: string): string {
  return `::${kind} title=${property(title)}::${data(message)}`;
}

/** Line breaks would end the command, and begin another. */
function data(text: string): string {
  return harmless(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  const line = harmless(text).replace(/\s+/g, " ").trim();
  return data(line).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** A step may have a summary of one MiB; of a longer one GitHub would show nothing. */
const MAX_SUMMARY_BYTES = 1024 * 1024;
const LEFT_OUT = "\n\nThe rest is left out: a summary has 1 MiB at the most. `ralph report` has all of it.\n";

/** The report for a summary that already has so many bytes. Empty where nothing more fits. */
export function stepSummary(report: Report, alreadyBytes: number): string {
  const whole = Buffer.from(markdownReport(report));
  const room = MAX_SUMMARY_BYTES - alreadyBytes;
  if (whole.length <= room) return whole.toString();
  const cut = whole.subarray(0, Math.max(room - LEFT_OUT.length, 0)).toString();
  const end = cut.lastIndexOf(PART_END);
  return end === -1 ? "" : `${cut.slice(0, end)}${PART_END}${LEFT_OUT}`;
}

/** What an iteration said is folded away in a part of its own, which is there whole or not at all. */
const PART_END = "\n</details>";
