import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { describeSystemError, RalphError, systemErrorCode } from "../../errors.js";
import type { Json, LoopEventBody } from "../../events.js";
import { digest } from "../../state/digest.js";
import type { Redact } from "../../state/redact.js";
import { isCompletionResponse } from "../../verify/completion.js";
import { runScm, type Scm, type ScmFailure } from "../../workspace/scm.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../recipe.js";
import { type Feedback, foldFeedback, type Guardrail, isFeedback, runGuardrails } from "./guardrails.js";

export interface PromptSpec {
  kind: "prompt";
  /** Exactly one of the two is set. */
  prompt?: string;
  promptFile?: string;
  completionResponse: string;
  donePattern?: string;
  guardrails: Guardrail[];
  scm?: Scm;
  outputTruncateChars: number;
  includeIterationCountInPrompt: boolean;
}

export interface PromptContext {
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  askForCommitMessage(iteration: number): Promise<string>;
}

/** Asks the same prompt until the agent says that it is done and every guardrail passes. */
export function promptRecipe(spec: PromptSpec, context: PromptContext): Recipe {
  const donePattern = spec.donePattern === undefined ? undefined : new RegExp(spec.donePattern, "m");
  const isDone = (message: string): boolean =>
    isCompletionResponse(message, spec.completionResponse) || donePattern?.test(message) === true;

  return {
    name: "prompt",
    verifies: spec.guardrails.length > 0,

    async plan({ iteration, maxIterations, memory }: PlanContext) {
      const base = spec.prompt ?? readPrompt(spec.promptFile as string, context.workspace);
      const prompt = foldFeedback(base, feedbackIn(memory));
      if (!spec.includeIterationCountInPrompt) return { prompt };
      const left = maxIterations - iteration;
      return { prompt: `Iteration ${iteration} of ${maxIterations}, ${left} remaining.\n\n${prompt}` };
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const failures = yield* runGuardrails({ ...spec, ...context }, verify);
      if (failures === undefined) return undefined;
      if (failures.length > 0) return guardrailsFailed(failures, isDone(answer.finalMessage));
      if (verify.stop.aborted) return undefined;
      const scm = spec.scm && answer.error === null ? yield* commit(spec.scm, verify) : undefined;
      if (scm !== undefined && isWorkForTheAgent(scm)) {
        return { passed: false, reason: "the commit was refused", memory: remember(told(scm)) };
      }
      if (isDone(answer.finalMessage)) return { passed: true, reason: "completed", stop: "completed" };
      return { passed: true, reason: "no completion response", memory: remember(told(scm)) };
    },
  };

  function commit(scm: Scm, { iteration, kill }: VerifyContext) {
    const askForMessage = () => context.askForCommitMessage(iteration);
    return runScm(scm, { ...context, kill, askForMessage }, iteration);
  }
}

async function guardrailsFailed(failures: Feedback[], claimed: boolean): Promise<Verdict> {
  const failure = await likeness(failures);
  const reason = claimed ? "claimed to be done, but guardrails failed" : "guardrails failed";
  return { passed: false, reason, failure, memory: remember(failures) };
}

/** What a hook refuses to commit, the agent has to mend; a push that fails is beyond it. */
function isWorkForTheAgent({ task, refused }: ScmFailure): boolean {
  return task === "commit" && refused;
}

function told(failure: ScmFailure | undefined): Feedback[] {
  return failure === undefined ? [] : [{ failAction: "APPEND", text: failure.message }];
}

/** Read anew for each iteration, so that it can be edited while the loop runs. */
export function readPrompt(file: string, workspace: string): string {
  const text = readText(file, resolve(workspace, file));
  if (text.trim() !== "") return text;
  throw new RalphError(`the prompt file is empty: ${file}`, { code: "prompt_empty" });
}

function readText(name: string, path: string): string {
  try {
    // A pipe could be read once, and a prompt is read many times.
    if (statSync(path).isFile()) return readFileSync(path, "utf8");
  } catch (error) {
    const missing = systemErrorCode(error) === "ENOENT";
    const message = missing
      ? `prompt file not found: ${name}`
      : `cannot read prompt file: ${name} (${describeSystemError(error)})`;
    throw new RalphError(message, { code: "prompt_unreadable", cause: error });
  }
  const what = statSync(path).isDirectory() ? "it is a directory" : "it is not a plain file";
  throw new RalphError(`cannot read prompt file: ${name} (${what})`, { code: "prompt_unreadable" });
}

/** Numbers change from run to run of the same failure: times, counts, ports. */
function likeness(failures: Feedback[]): Promise<string> {
  return digest(failures.map(({ text }) => text.replace(/\d+/g, "0")).join("\n"));
}

function remember(feedback: Feedback[]): Json {
  return { feedback: feedback.map(({ failAction, text }) => ({ failAction, text })) };
}

function feedbackIn(memory: Json | undefined): Feedback[] {
  if (typeof memory !== "object" || memory === null || Array.isArray(memory)) return [];
  const feedback: unknown = memory["feedback"];
  return Array.isArray(feedback) ? (feedback as unknown[]).filter(isFeedback) : [];
}
