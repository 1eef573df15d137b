import { join } from "node:path";
import { z } from "zod";
import type { Json, LoopEventBody } from "../../events.js";
import type { Verdict, VerifyContext } from "../../loop/recipe.js";
import type { FailAction } from "../../settings/schema.js";
import type { CheckResult } from "../../verify/check.js";
import { donePattern, isCompletionResponse } from "../../verify/done.js";
import { howItFailed, likeness, likenessOf } from "../../verify/failure.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { runScm, type Scm, type ScmFailure } from "../../workspace/scm.js";
import { readTextFile } from "../text-file.js";
import type { TaskContext, TaskStyle } from "./style.js";

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

export interface Guardrail {
  command: string;
  failAction: FailAction;
  hint?: string | undefined;
  timeoutMs: number;
  /** Patterns of the files that it depends on. */
  inputs?: string[] | undefined;
}

/** `ralph run`: the user's own prompt, and failures laid onto it as each guardrail says. */
export function runStyle(spec: PromptSpec, context: TaskContext): TaskStyle {
  const { guardrails, scm, completionResponse } = spec;
  const pattern = spec.donePattern === undefined ? undefined : donePattern(spec.donePattern);
  return {
    checksDecide: scm !== undefined,

    async prompt({ iteration, maxIterations, memory }) {
      const base = spec.prompt ?? readPrompt(spec.promptFile as string, context.workspace);
      const { feedback } = MEMORY.parse(memory);
      const prompt = feedback.reduce((text, told) => FOLD[told.failAction](text, told.text), base);
      if (!spec.includeIterationCountInPrompt) return prompt;
      const left = maxIterations - iteration;
      return `Iteration ${iteration} of ${maxIterations}, ${left} remaining.\n\n${prompt}`;
    },

    checks(iteration) {
      if (guardrails.length > 0) prepareRuntimeFolder(context.workspace);
      const used = new Set<string>();
      return guardrails.map((guardrail) => ({
        ...guardrail,
        log: logName(context.redact(guardrail.command), iteration, used),
        headChars: spec.outputTruncateChars,
        // Before the first iteration there is no prompt yet that it could change.
        ...(iteration > 0 && { judge: (run) => withAction(run, guardrail.failAction) }),
      }));
    },

    saysDone: (message) =>
      isCompletionResponse(message, completionResponse) || pattern?.test(message) === true,

    async *judge({ answer, results, failed, claimedDone }, verify) {
      if (failed.length > 0) {
        const feedback = failed.map((one) => feedbackOf(guardrails[results.indexOf(one)] as Guardrail, one));
        return guardrailsFailed(failed, feedback, claimedDone);
      }
      if (verify.stop.aborted) return undefined;
      const refused = answer.error === null ? yield* commit(scm, context, verify) : undefined;
      const memory = remember(refused ? [{ failAction: "APPEND", text: refused.message }] : []);
      // A commit that a hook refuses is the agent's to mend; a push that fails is not.
      if (refused?.task === "commit" && refused.refused)
        return { passed: false, reason: "the commit was refused", claimedDone, memory };
      if (claimedDone) return { passed: true, reason: "completed", claimedDone, stop: "completed" };
      return { passed: true, reason: "no completion response", claimedDone, memory };
    },
  };
}

async function guardrailsFailed(
  failed: CheckResult[],
  feedback: Feedback[],
  claimedDone: boolean,
): Promise<Verdict> {
  const failure = await likeness(failed.map(({ event }) => likenessOf(event)));
  const reason = claimedDone ? "claimed to be done, but guardrails failed" : "guardrails failed";
  return { passed: false, reason, claimedDone, failure, memory: remember(feedback) };
}

export function readPrompt(file: string, workspace: string): string {
  return readTextFile("prompt file", file, workspace);
}

/** The event of a guardrail that failed says what happens to the next prompt. */
async function withAction(run: () => Promise<CheckResult>, failAction: FailAction): Promise<CheckResult> {
  const result = await run();
  return result.event.passed ? result : { ...result, event: { ...result.event, failAction } };
}

async function* commit(
  scm: Scm | undefined,
  context: TaskContext,
  { iteration, kill, tree, budget }: VerifyContext,
): AsyncGenerator<LoopEventBody, ScmFailure | undefined> {
  if (scm === undefined) return undefined;
  const askForMessage = async () => {
    const before = await tree?.read();
    const message = await context.askForCommitMessage(iteration, budget);
    return { ...message, changed: before?.word !== (await tree?.read())?.word };
  };
  return yield* runScm(scm, { ...context, kill, askForMessage }, iteration);
}

/** A failure as the next prompt will tell it. */
interface Feedback {
  failAction: FailAction;
  text: string;
}

const FOLD = {
  APPEND: (prompt, failure) => `${prompt}\n\n${failure}`,
  PREPEND: (prompt, failure) => `${failure}\n\n${prompt}`,
  REPLACE: (_, failure) => failure,
} satisfies Record<FailAction, (prompt: string, failure: string) => string>;

const ACTIONS = Object.keys(FOLD) as FailAction[];
const MEMORY = z
  .object({ feedback: z.array(z.object({ failAction: z.enum(ACTIONS), text: z.string() })) })
  .catch({ feedback: [] });

function remember(feedback: Feedback[]): Json {
  return { feedback: feedback.map(({ failAction, text }) => ({ failAction, text })) };
}

function feedbackOf({ command, failAction, hint, timeoutMs }: Guardrail, result: CheckResult): Feedback {
  const { event, head, isCut } = result;
  const how = howItFailed(event, timeoutMs);
  const output = `Output (truncated):\n${head}${isCut ? "... [truncated]" : ""}`;
  const lines = [
    `Guardrail "${command}" failed${how.startsWith("exit code") ? " with" : ":"} ${how}.`,
    ...(hint ? [`Hint: ${hint}`] : []),
    `Output file: ${event.log}`,
    head.trim() === "" && !isCut ? "Output: (none)" : output,
  ];
  return { failAction, text: lines.join("\n") };
}

const MAX_SLUG = 50;

function logName(command: string, iteration: number, used: Set<string>): string {
  const words = command.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  const base = `guardrail_${iteration}_${words.slice(0, MAX_SLUG) || "command"}`;
  let name = base;
  for (let number = 1; used.has(name); number += 1) name = `${base}_${number}`;
  used.add(name);
  return join(RUNTIME_FOLDER, `${name}.log`);
}
