import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { formatDuration } from "../../duration.js";
import type { CheckFinished } from "../../events.js";
import { writeFresh } from "../../state/files.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import type { Answer } from "../recipe.js";
import { howItFailed } from "./prompt.js";

export const PROGRESS_FILE = join(RUNTIME_FOLDER, "progress.md");

export interface IterationProgress {
  answer: Answer;
  results: CheckFinished[];
  isTagMissing: boolean;
}

/**
 * The history of a run for people and for the next agent. The one in the records is what counts; the one in
 * the project is a copy of it that agents can read, and write.
 */
export function createProgress(records: string, workspace: string) {
  const own = join(records, "progress.md");
  const copy = join(workspace, PROGRESS_FILE);
  const read = (): string => (existsSync(own) ? readFileSync(own, "utf8") : "");
  return {
    read,
    /** A run does not go on with the progress of another one. */
    begin(): void {
      for (const file of [own, copy]) rmSync(file, { force: true });
    },
    add(iteration: number, result: IterationProgress): void {
      // After a crash an iteration is run again: its first try does not count.
      const before = read().split(`## Iteration ${iteration} `)[0] ?? "";
      const text = `${before}${section(iteration, result)}`;
      prepareRuntimeFolder(workspace);
      writeFresh(own, text);
      writeFresh(copy, text);
    },
  };
}

function section(iteration: number, { answer, results, isTagMissing }: IterationProgress): string {
  const passed = answer.error === null && results.every((result) => result.passed);
  const durationMs = results.reduce((sum, result) => sum + result.durationMs, answer.durationMs);
  return `${[
    `## Iteration ${iteration} — ${passed ? "PASS" : "FAIL"}`,
    `- Steps: ${answer.steps}`,
    `- Cost: ${answer.costUsd === null ? "unknown" : `$${answer.costUsd.toFixed(4)}`}`,
    `- Duration: ${formatDuration(durationMs)}`,
    "- Checks:",
    ...results.map(checkLine),
    ...(isTagMissing ? ["- Completion tag: not found"] : []),
    ...(answer.error === null ? [] : [`- Error: ${oneLine(answer.error)}`]),
  ].join("\n")}\n\n`;
}

function checkLine(result: CheckFinished): string {
  if (result.passed) return `  - ${result.command}: PASS`;
  const telling = tellingLine(result.output);
  return `  - ${result.command}: FAIL — ${telling === "" ? howItFailed(result) : telling}`;
}

/** The first line that speaks of a failure, else the last one. */
function tellingLine(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const found = lines.find((line) => /error|fail|exception|assert|not found|:\d+:/i.test(line));
  return oneLine(found ?? lines.at(-1) ?? "");
}

const MAX_LINE_CHARS = 200;

function oneLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS - 1)}…`;
}
