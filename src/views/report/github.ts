import { endingOf, harmless } from "../format.js";
import type { CheckReport, Report } from "./model.js";
import { titleOf } from "./words.js";

/** Commands of GitHub Actions: what failed in the last iteration as errors, success as a notice. */
export function annotations(report: Report): string[] {
  if (report.success) return [command("notice", "ralph", titleOf(report))];
  const failed = report.iterations.at(-1)?.checks.filter(({ passed }) => !passed) ?? [];
  const reason = report.message === null ? titleOf(report) : `${titleOf(report)}: ${report.message}`;
  return [command("error", "ralph", reason), ...failed.map(failure)];
}

function failure(check: CheckReport): string {
  const output = check.output.trim();
  return command("error", `${check.command} (${endingOf(check)})`, output === "" ? "no output" : output);
}

function command(kind: "notice" | "error", title: string, message: string): string {
  return `::${kind} title=${escaped(title).replaceAll(":", "%3A").replaceAll(",", "%2C")}::${escaped(message)}`;
}

/** Line breaks would end the command, and begin another. */
function escaped(text: string): string {
  return harmless(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
