import { resolve } from "node:path";
import { RalphError } from "../../errors.js";
import { flagWords, invalid, LOOP_DEFAULTS, saysSomething, swallowed } from "../../settings/limits.js";
import { loopSection } from "../../settings/load.js";
import type { Settings } from "../../settings/schema.js";
import { donePattern } from "../../verify/done.js";
import { type CheckFlags, checksFrom } from "../checks.js";
import type { ChecksSpec } from "./loop-style.js";
import type { PromptSpec } from "./run-style.js";
import type { RepeatSpec } from "./task.js";

/** What flags and settings ask of the recipes for a task. Nothing is read from the disk here. */

interface TaskFlags extends CheckFlags {
  worktree?: string | boolean | undefined;
  /** false: `--no-done-instruction`. */
  doneInstruction?: boolean;
}

export interface PromptFlags extends TaskFlags {
  prompt?: string;
  promptFile?: string;
  completionResponse?: string;
  donePattern?: string;
}

/** `ralph run`. */
export function promptSpec(flags: PromptFlags, settings: Settings, origin: string): PromptSpec {
  return {
    kind: "prompt",
    ...promptSource(flags, origin),
    completionResponse: saysSomething(
      "--completion-response",
      flags.completionResponse ?? settings.completionResponse,
    ),
    ...patternIn(flags),
    ...(flags.doneInstruction === false && { doneInstruction: false as const }),
    checks: checksFrom(flags, settings),
    ...(settings.scm && { scm: settings.scm }),
    includeIterationCountInPrompt: settings.includeIterationCountInPrompt,
  };
}

function promptSource({ prompt, promptFile, worktree }: PromptFlags, origin: string) {
  const hint = 'say what to do: ralph run "TEXT", -f FILE, or - for stdin';
  const code = "prompt_missing";
  if (prompt?.trim() === "") throw new RalphError("the prompt is empty", { code: "prompt_empty" });
  if (prompt !== undefined) return { prompt };
  // From a worktree it is found again, and with what is in it now.
  if (promptFile !== undefined)
    return { promptFile: worktree === undefined ? promptFile : resolve(origin, promptFile) };
  throw new RalphError("no prompt was given", { code, hint: swallowed(worktree, "ralph run") ?? hint });
}

export interface ChecksFlags extends TaskFlags {
  spec?: string | undefined;
  /** false: `--no-completion-tag`. */
  completionTag?: string | false | undefined;
}

/** `ralph loop`. */
export function checksSpec(
  task = "",
  { spec, worktree, completionTag, doneInstruction, ...flags }: ChecksFlags,
  settings: Settings,
  origin: string,
): ChecksSpec {
  const checks = checksFrom(flags, settings);
  const { completion_tag = LOOP_DEFAULTS.completionTag } = loopSection(settings);
  if (checks.length === 0)
    throw new RalphError("no check was given, and a check decides when the work is done", {
      code: "check_missing",
      hint: 'add --check "npm test", or checks to .ralph/settings.json: ralph config set checks \'["npm test"]\'',
    });
  if (spec === undefined && task.trim() === "")
    throw new RalphError("no task was given", {
      code: "task_missing",
      hint:
        swallowed(worktree, "ralph loop") ??
        'say what to do: ralph loop "TASK" --check CMD, -f FILE, or - for stdin',
    });
  return {
    ...{ kind: "checks", task, checks },
    // From a worktree it is found again, and with what is in it now.
    ...(spec !== undefined && { specFile: resolve(origin, spec) }),
    completionTag: completionTag === undefined ? (completion_tag?.trim() ?? null) : tagIn(completionTag),
    ...(doneInstruction === false && { doneInstruction }),
  };
}

function tagIn(given: string | false): string | null {
  if (given === false) return null;
  const tag = saysSomething("--completion-tag", given).trim();
  if (/[\r\n]/.test(tag)) throw invalid("--completion-tag", JSON.stringify(given), "one line");
  return tag;
}

export interface RepeatFlags extends Omit<PromptFlags, "prompt" | "promptFile"> {
  promptFile: string;
}

/** Flags that say something to a known agent, or of its work. */
const OF_KNOWN_AGENTS = [
  ...["check", "projectChecks", "checkTimeout", "completionResponse", "doneInstruction"],
  ...["hiddenCheck", "confirm", "requireWitness", "sign"],
];

/** The loop of a worker with a prompt file and a known agent: that of `ralph run -f`. */
export function workerSpec(flags: RepeatFlags, settings: Settings, origin: string): PromptSpec {
  const promptFile = resolve(origin, flags.promptFile);
  return { ...promptSpec({ ...flags, promptFile }, settings, origin), ofWorker: true };
}

/** The loop of a worker with a prompt file and any other command, which nothing verifies. */
export function repeatSpec(flags: RepeatFlags, origin: string): RepeatSpec {
  const useless = OF_KNOWN_AGENTS.find((flag) => Reflect.has(flags, flag));
  if (useless !== undefined)
    throw new RalphError(
      `${flagWords(useless, Reflect.get(flags, useless))[0]?.split("=")[0]} is for known agents`,
      {
        code: "flag_invalid",
        hint: "for any other command: ralph spawn --name NAME run -f FILE --agent COMMAND --check CMD",
      },
    );
  return { kind: "repeat", promptFile: resolve(origin, flags.promptFile), ...patternIn(flags) };
}

function patternIn({ donePattern: pattern }: { donePattern?: string }) {
  if (pattern === undefined) return {};
  saysSomething("--done-pattern", pattern);
  try {
    donePattern(pattern);
    return { donePattern: pattern };
  } catch (error) {
    throw invalid("--done-pattern", pattern, `a regular expression (${(error as Error).message})`);
  }
}
