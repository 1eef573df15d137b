import { join } from "node:path";
import { formatDuration } from "../../duration.js";
import type { CheckFinished, LoopEventBody } from "../../events.js";
import type { VerifyContext } from "../../loop/recipe.js";
import type { Redact } from "../../records/redact.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { FailAction } from "../../settings/schema.js";
import { type CheckContext, type CheckResult, checkFinished, runCheck } from "../../verify/checks.js";
import { type Job, runJobs, type Schedule } from "../../verify/schedule.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";

export interface Guardrail {
  command: string;
  failAction: FailAction;
  hint?: string | undefined;
  timeoutMs: number;
  /** Patterns of the files that it depends on. */
  inputs?: string[] | undefined;
}

/** A failure as the next prompt will tell it. */
export interface Feedback {
  failAction: FailAction;
  text: string;
}

export interface GuardrailSetup {
  guardrails: Guardrail[];
  workspace: string;
  outputTruncateChars: number;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  /** Left out: one after the other. */
  schedule?: Schedule | undefined;
  /** What one of them leaves running is left alone. */
  keepBackground?: boolean | undefined;
  /** Where they run, if they are shut in. */
  sandbox?: Sandbox | undefined;
  /** Asked after each check: why it does not count. */
  spoiled?: CheckContext["spoiled"];
}

/** What came of all of them. */
export interface Guarded {
  results: CheckFinished[];
  feedback: Feedback[];
}

/** Runs all guardrails, also after one failed. undefined: a signal came before the last one. */
export async function* runGuardrails(
  setup: GuardrailSetup,
  verify: VerifyContext,
): AsyncGenerator<LoopEventBody, Guarded | undefined> {
  const used = new Set<string>();
  const failures = new Map<number, Feedback>();
  if (setup.guardrails.length > 0) prepareRuntimeFolder(setup.workspace);
  const jobs = setup.guardrails.map((guardrail, place): Job => {
    const log = logName(setup.redact(guardrail.command), verify.iteration, used);
    const fail = (text: string): void => {
      failures.set(place, { failAction: guardrail.failAction, text });
    };
    return jobOf(guardrail, log, setup, verify.iteration, fail);
  });
  const results = yield* runJobs(jobs, setup.schedule, verify);
  if (results === undefined) return undefined;
  const feedback = jobs.flatMap((_, place) => failures.get(place) ?? []);
  return { results, feedback };
}

function jobOf(
  guardrail: Guardrail,
  log: string,
  setup: GuardrailSetup,
  iteration: number,
  fail: (text: string) => void,
): Job {
  const { command, failAction, timeoutMs, inputs } = guardrail;
  const keep = { chars: setup.outputTruncateChars, from: "start" as const };
  return {
    command,
    inputs,
    async run(kill) {
      const context = { ...setup, kill, keep, log: join(setup.workspace, log) };
      const result = await runCheck({ command, timeoutMs }, context);
      const finished = checkFinished({ iteration, command, log }, result, result.tail);
      if (result.passed) return finished;
      fail(failureText(guardrail, result, log));
      // Before the first iteration there is no prompt yet that it could change.
      return iteration === 0 ? finished : { ...finished, failAction };
    },
    isVoid: (why) => fail(`Guardrail "${command}" passed, but that proves nothing: ${why}.`),
  };
}

/** Whether something that was read from a journal can be told to an agent. */
export function isFeedback(value: unknown): value is Feedback {
  if (typeof value !== "object" || value === null || !("failAction" in value) || !("text" in value))
    return false;
  return typeof value.text === "string" && Object.hasOwn(FOLD, String(value.failAction));
}

/** Failures are laid onto the prompt in the order of the guardrails. */
export function foldFeedback(prompt: string, feedback: Feedback[]): string {
  return feedback.reduce((text, failure) => FOLD[failure.failAction](text, failure.text), prompt);
}

const FOLD: Record<FailAction, (prompt: string, failure: string) => string> = {
  APPEND: (prompt, failure) => `${prompt}\n\n${failure}`,
  PREPEND: (prompt, failure) => `${failure}\n\n${prompt}`,
  REPLACE: (_, failure) => failure,
};

function failureText({ command, hint, timeoutMs }: Guardrail, result: CheckResult, log: string): string {
  return [
    `Guardrail "${command}" ${howItFailed(result, timeoutMs)}.`,
    ...(hint === undefined || hint === "" ? [] : [`Hint: ${hint}`]),
    `Output file: ${log}`,
    ...outputLines(result),
  ].join("\n");
}

function outputLines({ output, truncated }: CheckResult): string[] {
  if (output.trim() === "" && !truncated) return ["Output: (none)"];
  return ["Output (truncated):", truncated ? `${output}... [truncated]` : output];
}

function howItFailed(result: CheckResult, timeoutMs: number): string {
  const { exitCode, signal, timedOut, spawnError, why } = result;
  if (why !== undefined) return `failed: ${why}`;
  if (timedOut) return `failed: it timed out after ${formatDuration(timeoutMs)}`;
  if (spawnError !== undefined) return `failed: it could not be started (${spawnError.message})`;
  return signal === null ? `failed with exit code ${exitCode}` : `failed: it was killed by ${signal}`;
}

function logName(command: string, iteration: number, used: Set<string>): string {
  const base = `guardrail_${iteration}_${slug(command)}`;
  let name = base;
  for (let number = 1; used.has(name); number += 1) name = `${base}_${number}`;
  used.add(name);
  return join(RUNTIME_FOLDER, `${name}.log`);
}

const MAX_SLUG = 50;

function slug(command: string): string {
  const words = command.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  return words.slice(0, MAX_SLUG) || "command";
}
