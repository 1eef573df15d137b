import type { CheckFinished } from "../../events.js";

/** A check that failed, as the next prompt tells it. */
export interface Failure {
  command: string;
  how: string;
  output: string;
}

export interface PromptParts {
  task: string;
  checks: string[];
  completionTag: string | null;
  iteration: number;
  maxIterations: number;
  /** All that has changed since the run began. */
  diff: string | undefined;
  failures: Failure[];
  /** Why the last agent failed, if it did. */
  error: string | null;
  progress: string;
}

const DIFF_CHARS = 5000;
const PROGRESS_CHARS = 20_000;

/** Everything an agent gets to know: nothing is carried over beside this text and the files. */
export function iterationPrompt(parts: PromptParts): string {
  return [
    parts.task.trim(),
    instructions(parts),
    section("Changes so far", diffText(parts.diff)),
    section("Failed checks", parts.failures.map(failureText).join("\n\n")),
    section("Error of the last iteration", parts.error ?? ""),
    section("Progress", end(parts.progress.trim(), PROGRESS_CHARS)),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function instructions({ iteration, maxIterations, checks, completionTag }: PromptParts): string {
  return [
    `This is iteration ${iteration} of ${maxIterations}. You start with a clean context; earlier work is in the files.`,
    "When you have finished, these checks are run. All of them must pass (exit code 0):",
    ...checks.map((check) => `- ${check}`),
    ...(completionTag === null
      ? []
      : [
          `If the task is finished and the checks pass, end your final message with ${completionTag} on a line of its own.`,
        ]),
  ].join("\n");
}

function section(title: string, text: string): string {
  return text === "" ? "" : `## ${title}\n\n${text}`;
}

function diffText(diff: string | undefined): string {
  if (diff === undefined || diff.trim() === "") return "";
  const shown = diff.length <= DIFF_CHARS ? diff.trimEnd() : `${diff.slice(0, DIFF_CHARS)}\n... [truncated]`;
  return fenced(shown, "diff");
}

function failureText({ command, how, output }: Failure): string {
  const said = output.trim() === "" ? "(no output)" : fenced(output.trimEnd(), "");
  return `### ${command}\n\nFailed: ${how}.\n\n${said}`;
}

/** In a fence that nothing inside can close. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function end(text: string, chars: number): string {
  return text.length <= chars ? text : `[...]\n${text.slice(-chars)}`;
}

type Ending = Pick<CheckFinished, "exitCode" | "signal" | "timedOut">;

/** `exit code 1`, `timed out`, `killed by SIGKILL`; a command that is not there is named as such. */
export function howItFailed({ exitCode, signal, timedOut }: Ending): string {
  if (timedOut) return "timed out";
  if (signal !== null) return `killed by ${signal}`;
  if (exitCode === 127) return "exit code 127: command not found";
  return exitCode === null ? "it could not be started" : `exit code ${exitCode}`;
}
