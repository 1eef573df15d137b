import { resolve } from "node:path";
import { parseDuration } from "../../duration.js";
import { RalphError } from "../../errors.js";
import { duration, invalid, LOOP_DEFAULTS, saysSomething, swallowed } from "../../settings/limits.js";
import type { LoopSettings, Settings } from "../../settings/schema.js";
import { donePattern } from "../../verify/done.js";
import type { ChecksSpec } from "./loop-style.js";
import type { Guardrail, PromptSpec } from "./run-style.js";
import type { RepeatSpec } from "./task.js";

/** What flags and settings ask of the recipes for a task. Nothing is read from the disk here. */

interface TaskFlags {
  worktree?: string | boolean;
}

export interface PromptFlags extends TaskFlags {
  prompt?: string;
  promptFile?: string;
  completionResponse?: string;
  donePattern?: string;
  check?: string[];
}

const GUARDRAIL_TIMEOUT_MS = 10 * 60_000;

/** `ralph run`. */
export function promptSpec(flags: PromptFlags, settings: Settings, origin: string): PromptSpec {
  const checks = (flags.check ?? []).map((command) => ({
    command: saysSomething("--check", command),
    failAction: "APPEND" as const,
  }));
  return {
    kind: "prompt",
    ...promptSource(flags, origin),
    completionResponse: saysSomething("-c", flags.completionResponse ?? settings.completionResponse),
    ...patternIn(flags),
    guardrails: [...settings.guardrails, ...checks].map(withTimeout),
    ...(settings.scm && { scm: settings.scm }),
    outputTruncateChars: settings.outputTruncateChars,
    includeIterationCountInPrompt: settings.includeIterationCountInPrompt,
  };
}

const ONE_PROMPT = "give exactly one of --prompt TEXT and --prompt-file FILE";

function promptSource({ prompt, promptFile, worktree }: PromptFlags, origin: string) {
  if (prompt !== undefined && promptFile !== undefined)
    throw new RalphError("--prompt and --prompt-file exclude each other", {
      code: "prompt_choice",
      hint: ONE_PROMPT,
    });
  if (prompt?.trim() === "") throw new RalphError("the prompt is empty", { code: "prompt_empty" });
  if (prompt !== undefined) return { prompt };
  // From a worktree it is found again, and with what is in it now.
  if (promptFile !== undefined)
    return { promptFile: worktree === undefined ? promptFile : resolve(origin, promptFile) };
  throw new RalphError("no prompt was given", {
    code: "prompt_choice",
    hint: swallowed(worktree, "ralph run -p") ?? ONE_PROMPT,
  });
}

function withTimeout({ timeout = "", ...guardrail }: Settings["guardrails"][number]): Guardrail {
  return { ...guardrail, timeoutMs: parseDuration(timeout) ?? GUARDRAIL_TIMEOUT_MS };
}

export interface ChecksFlags extends TaskFlags {
  check?: string[];
  spec?: string;
  /** false: `--no-completion-tag`. */
  completionTag?: string | false;
  checkTimeout?: string;
}

/** `ralph loop`. */
export function checksSpec(
  task: string | undefined,
  flags: ChecksFlags,
  section: LoopSettings,
  origin: string,
): ChecksSpec {
  const { check = [], checkTimeout } = flags;
  const checks = check.map((command) => runsSomething(saysSomething("--check", command)));
  if (checks.length === 0) {
    throw new RalphError("no check was given", {
      code: "check_missing",
      hint: '--check CMD says when the work is done, such as --check "npm test"',
    });
  }
  return {
    kind: "checks",
    ...whatToDo(task, flags, origin),
    checks,
    checkTimeoutMs:
      checkTimeout === undefined ? LOOP_DEFAULTS.checkTimeoutMs : duration("--check-timeout", checkTimeout),
    completionTag: tagOf(flags, section),
  };
}

/** A comment exits 0 and checks nothing. */
function runsSomething(command: string): string {
  const isComment = command.split("\n").every((line) => /^\s*(#|$)/.test(line));
  if (isComment) throw invalid("--check", command, "a command, and this is a comment");
  return command;
}

/** A spec file is found again from a worktree, and with what is in it now. */
function whatToDo(task = "", { spec, worktree }: ChecksFlags, origin: string) {
  if (spec !== undefined) return { task, specFile: resolve(origin, spec) };
  if (task.trim() !== "") return { task };
  throw new RalphError("no task was given", {
    code: "task_missing",
    hint: swallowed(worktree, "ralph loop") ?? "say what to do: ralph loop TASK --check CMD, or --spec FILE",
  });
}

function tagOf(
  { completionTag }: ChecksFlags,
  { completion_tag = LOOP_DEFAULTS.completionTag }: LoopSettings,
): string | null {
  if (completionTag === false) return null;
  if (completionTag === undefined) return completion_tag?.trim() ?? null;
  const tag = saysSomething("--completion-tag", completionTag).trim();
  if (/[\r\n]/.test(tag)) throw invalid("--completion-tag", JSON.stringify(completionTag), "one line");
  return tag;
}

export interface RepeatFlags {
  promptFile: string;
  donePattern?: string;
}

/** The loop of a worker with a prompt file and a command. */
export function repeatSpec(flags: RepeatFlags, origin: string): RepeatSpec {
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
