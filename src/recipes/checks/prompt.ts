import { beginning, ending } from "../../verify/excerpt.js";
import { failureText, fenced } from "../../verify/failure.js";
import type { LastTime } from "./memory.js";

export interface PromptParts extends LastTime {
  task: string;
  checks: string[];
  completionTag: string | null;
  iteration: number;
  maxIterations: number;
  /** All that has changed since the run began. */
  diff: string | undefined;
  progress: string;
}

const DIFF_CHARS = 5000;
const ERROR_CHARS = 2000;
const PROGRESS_CHARS = 20_000;

/** Everything an agent gets to know: nothing is carried over beside this text and the files. */
export function iterationPrompt(parts: PromptParts): string {
  const { iteration, maxIterations, diff = "", failures, error, progress } = parts;
  return [
    parts.task.trim(),
    "---",
    section(`Iteration ${iteration} of ${maxIterations}`, instructions(parts)),
    section("Changes so far", diffText(diff)),
    section("Failed checks", failures.map(failureText).join("\n\n")),
    section("Error of the last iteration", ending(error ?? "", ERROR_CHARS).trim()),
    section("Progress", progressText(progress.trim())),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function instructions({ iteration, checks, completionTag }: PromptParts): string {
  const earlier = iteration === 1 ? "" : " The work of the earlier iterations is in the files.";
  return [
    `You start with a clean context.${earlier}`,
    "When you have finished, these checks are run. All of them must pass (exit code 0):",
    checks.map((check) => `- ${check.trim().replaceAll("\n", "\n  ")}`).join("\n"),
    completionTag === null ? "" : howToSayDone(completionTag),
  ]
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}

function howToSayDone(tag: string): string {
  return `Only if the whole task is done and the checks pass, end your final message with ${tag} on a line of its own. If something is left to do, do not write ${tag}.`;
}

function section(title: string, text: string): string {
  return text === "" ? "" : `## ${title}\n\n${text}`;
}

function diffText(diff: string): string {
  if (diff.trim() === "") return "";
  const shown =
    diff.length <= DIFF_CHARS ? diff.trimEnd() : `${beginning(diff, DIFF_CHARS)}\n... [truncated]`;
  return `What differs from the commit that the run started from, new files included:\n\n${fenced(shown, "diff")}`;
}

/** The latest iterations are worth more than the first ones. */
function progressText(progress: string): string {
  if (progress === "") return "";
  const shown = ending(progress, PROGRESS_CHARS);
  const whole = shown === progress ? 0 : Math.max(0, shown.search(/^## Iteration /m));
  return fenced(whole === 0 ? shown : `[...]\n\n${shown.slice(whole)}`, "markdown");
}
