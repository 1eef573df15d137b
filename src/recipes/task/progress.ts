import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { becameOf } from "../../baseline.js";
import { formatDuration } from "../../duration.js";
import { orElse } from "../../errors.js";
import type { BaselineCheck, CheckFinished } from "../../events.js";
import { writeAtomic, writeFresh } from "../../records/files.js";
import type { CheckResult } from "../../verify/check.js";
import { firstFailure, oneLine } from "../../verify/excerpt.js";
import type { Failure } from "../../verify/failure.js";
import { isOwnFolder, prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import type { TaskContext, TaskWork } from "./run-style.js";

export const PROGRESS_FILE = join(RUNTIME_FOLDER, "progress.md");

export interface ProgressEntry extends Omit<TaskWork, "results" | "failed"> {
  results: Pick<CheckResult, "event">[];
  failures: Failure[];
  completionTag: string | null;
}

/** The history of a run. The one in the records counts; agents read, and write, the copy in the project. */
export function createProgress(context: Pick<TaskContext, "records" | "workspace" | "redact">) {
  const { records, workspace, redact } = context;
  const own = join(records, "progress.md");
  const copy = join(workspace, PROGRESS_FILE);
  const read = (): string => (existsSync(own) ? readFileSync(own, "utf8") : "");
  return {
    read,
    /** A run does not go on with the progress of another one. */
    begin(): void {
      rmSync(own, { force: true });
      if (isOwnFolder(workspace)) orElse(() => rmSync(copy, { force: true }), undefined);
    },
    add(iteration: number, entry: ProgressEntry, baseline: BaselineCheck[] = []): void {
      // After a crash an iteration is run again: its first try does not count.
      const before = read().split(new RegExp(`^## Iteration ${iteration} `, "m"), 1)[0] ?? "";
      const text = `${before}${redact(section(iteration, entry, baseline))}`;
      writeAtomic(own, text);
      prepareRuntimeFolder(workspace);
      // An agent can have put anything in the place of the copy, such as a folder; nothing depends on it.
      if (isOwnFolder(workspace)) orElse(() => writeFresh(copy, text), undefined);
    },
  };
}

const LINE_CHARS = 200;

function section(iteration: number, entry: ProgressEntry, baseline: BaselineCheck[]): string {
  const { answer, results, failures } = entry;
  const passed = answer.error === null && failures.length === 0;
  const durationMs = results.reduce((sum, { event }) => sum + event.durationMs, answer.durationMs);
  const failed = failures.values();
  return `${[
    `## Iteration ${iteration} — ${passed ? "PASS" : "FAIL"}`,
    `- Steps: ${answer.steps}`,
    `- Cost: ${answer.costUsd === null ? "unknown" : `$${answer.costUsd.toFixed(4)}`}`,
    `- Duration: ${formatDuration(durationMs)}`,
    "- Checks:",
    ...results.map(({ event }) => checkLine(event, failed, becameOf(event, baseline))),
    ...tagLines(entry),
    ...(answer.error === null ? [] : [`- Error: ${oneLine(answer.error, LINE_CHARS)}`]),
  ].join("\n")}\n\n`;
}

/** Said only where it tells something: that a check failed says enough by itself. */
function tagLines({ answer, failures, completionTag, claimedDone }: ProgressEntry): string[] {
  if (claimedDone) return failures.length === 0 ? [] : ["- Completion tag: found, but checks failed"];
  if (completionTag === null || answer.error !== null || failures.length > 0) return [];
  return [`- Completion tag: not found (${completionTag} on a line of its own in the final message)`];
}

function checkLine(
  { command, passed, skipped }: CheckFinished,
  failed: Iterator<Failure>,
  became: string | undefined,
): string {
  const name = `  - ${oneLine(command, LINE_CHARS)}`;
  if (skipped !== undefined) return `${name}: ${SKIPPED[skipped]}`;
  const since = became === undefined ? "" : ` (${became})`;
  return `${name}${since}: ${passed ? "PASS" : `FAIL — ${whatHappened(failed.next().value)}`}`;
}

const SKIPPED = {
  unchanged: "PASS (not run again: its inputs are unchanged)",
  after_failure: "not run (another check failed first)",
  untrusted: "not run (an agent added it)",
} satisfies Record<NonNullable<CheckFinished["skipped"]>, string>;

/** The line of the output that tells most, unless the check did not come to an end by itself. */
function whatHappened({ how, output }: Failure): string {
  const telling = firstFailure(output) ?? output.trimEnd().split("\n").at(-1)?.trim();
  return !telling || !/^exit code (?!127)/.test(how) ? how : oneLine(telling, LINE_CHARS);
}
