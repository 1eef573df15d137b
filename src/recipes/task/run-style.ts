import { join } from "node:path";
import type { Json, LoopEventBody } from "../../events.js";
import type { Answer, PlanContext, Verdict, VerifyContext } from "../../loop/recipe.js";
import { has, listOf } from "../../records/files.js";
import type { FailAction } from "../../settings/schema.js";
import type { Check, CheckResult } from "../../verify/check.js";
import { donePattern, isCompletionResponse, saysDone } from "../../verify/done.js";
import { hiddenFailure, howItFailed, likeness, likenessOf } from "../../verify/failure.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { runScm, type Scm, type ScmFailure } from "../../workspace/scm.js";
import type { TaskCheck } from "../checks.js";
import { howToAsk, howToSayDone, readTextFile } from "../prompt.js";
import type { RecipeContext } from "../row.js";

export type TaskContext = Omit<RecipeContext, "agentSandbox" | "isShutIn">;

/** What differs between `ralph run` and `ralph loop`: how the task is worded, and what the results mean. */
export interface TaskStyle {
  /** Whether the checks decide something also where the agent does not say that it is done. */
  checksDecide: boolean;
  prompt(context: PlanContext): Promise<string>;
  checks(iteration: number): Check[];
  saysDone(finalMessage: string): boolean;
  /** Whether an agent at work has said enough to be ended; `asked` is its prompt. */
  isDone?(said: string, asked: string): boolean;
  judge(work: TaskWork, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined>;
}

export interface TaskWork {
  answer: Answer;
  results: CheckResult[];
  failed: CheckResult[];
  claimedDone: boolean;
}

export interface PromptSpec {
  kind: "prompt";
  /** Exactly one of the two is set. */
  prompt?: string;
  promptFile?: string;
  completionResponse: string;
  donePattern?: string;
  /** Of a worker: the done pattern ends its agent, and where nothing verifies its work, it has done all at its limit. */
  ofWorker?: true;
  /** false: the prompt is left as it is. */
  doneInstruction?: false;
  checks: TaskCheck[];
  scm?: Scm;
  includeIterationCountInPrompt: boolean;
}

/** `ralph run`: the user's own prompt, and failures laid onto it as each check says. */
export function runStyle(spec: PromptSpec, context: TaskContext): TaskStyle {
  const { checks, scm, completionResponse } = spec;
  const pattern = spec.donePattern === undefined ? undefined : donePattern(spec.donePattern);
  const howDone = (message: string) => (pattern?.test(message) ? "done pattern matched" : "completed");
  return {
    checksDecide: scm !== undefined,

    async prompt({ iteration, maxIterations, memory }) {
      const base = spec.prompt ?? readPrompt(spec.promptFile as string, context.workspace);
      const feedback = feedbackIn(memory);
      const folded = feedback.reduce((text, told) => FOLD[told.failAction](text, told.text), base);
      const isReplaced = feedback.some(({ failAction }) => failAction === "REPLACE");
      const added = closing(spec, isReplaced ? "" : base);
      const prompt = added.length === 0 ? folded : [folded.trimEnd(), ...added].join("\n\n");
      if (!spec.includeIterationCountInPrompt) return prompt;
      const left = maxIterations - iteration;
      return `Iteration ${iteration} of ${maxIterations}, ${left} remaining.\n\n${prompt}`;
    },

    checks(iteration) {
      if (checks.length > 0) prepareRuntimeFolder(context.workspace);
      const used = new Set<string>();
      return checks.map((check) => ({
        ...check,
        log: logName(context.redact(check.command), iteration, used),
        async judge(run) {
          const result = await run();
          // Before the first iteration there is no prompt yet that it could change.
          if (result.event.passed || iteration === 0) return result;
          return { ...result, event: { ...result.event, failAction: check.failAction } };
        },
      }));
    },

    saysDone: (message) =>
      isCompletionResponse(message, completionResponse) || pattern?.test(message) === true,

    ...(spec.ofWorker && pattern && { isDone: (said, asked) => saysDone(said, pattern, asked) }),

    async *judge({ answer, failed, claimedDone }, verify) {
      if (failed.length > 0) {
        const feedback = failed.map(feedbackOf);
        const failure = await likeness(failed.map(({ event }) => likenessOf(event)));
        const reason = claimedDone ? "claimed to be done, but checks failed" : "checks failed";
        return { passed: false, reason, claimedDone, failure, memory: { feedback } };
      }
      if (verify.stop.aborted) return undefined;
      const refused = yield* commit(scm, answer, context, verify);
      const memory: Json = { feedback: refused ? [{ failAction: "APPEND", text: refused.message }] : [] };
      // A commit that a hook refuses is the agent's to mend; a push that fails is not.
      if (refused?.task === "commit" && refused.refused)
        return { passed: false, reason: "the commit was refused", claimedDone, memory };
      if (claimedDone)
        return { passed: true, reason: howDone(answer.finalMessage), claimedDone, stop: "completed" };
      return { passed: true, reason: "no completion response", claimedDone, memory };
    },
  };
}

async function* commit(
  scm: Scm | undefined,
  { error }: Answer,
  context: TaskContext,
  { iteration, kill, tree, budget }: VerifyContext,
): AsyncGenerator<LoopEventBody, ScmFailure | undefined> {
  if (scm === undefined || error !== null) return undefined;
  const askForMessage = async () => {
    const before = await tree?.read();
    const message = await context.askForCommitMessage(iteration, budget);
    return { ...message, changed: before?.word !== (await tree?.read())?.word };
  };
  return yield* runScm(scm, { ...context, kill, askForMessage }, iteration);
}

/** What the prompt does not say itself: how to end. */
function closing({ completionResponse, doneInstruction, checks }: PromptSpec, prompt: string): string[] {
  if (doneInstruction === false) return [];
  const words = `<response>${completionResponse}</response>`;
  const isSaid = prompt.toLowerCase().includes(words.toLowerCase());
  return [...(isSaid ? [] : [howToSayDone(words, checks.length > 0)]), ...howToAsk(prompt)];
}

export function readPrompt(file: string, workspace: string): string {
  return readTextFile("prompt file", file, workspace);
}

const FOLD = {
  APPEND: (prompt, failure) => `${prompt}\n\n${failure}`,
  PREPEND: (prompt, failure) => `${failure}\n\n${prompt}`,
  REPLACE: (_, failure) => failure,
} satisfies Record<FailAction, (prompt: string, failure: string) => string>;

const ACTIONS = Object.keys(FOLD) as FailAction[];

/** A failure as the next prompt will tell it. */
type CheckFeedback = { failAction: FailAction; text: string };

function feedbackIn(memory: Json | undefined): CheckFeedback[] {
  const feedback = has(memory, { feedback: "array" }) ? memory["feedback"] : [];
  const told = listOf<CheckFeedback>(feedback, { failAction: "string", text: "string" });
  return told.filter(({ failAction }) => ACTIONS.includes(failAction));
}

/** In the words that prompts and tools for them know. */
function feedbackOf({ check: { command, hint, timeoutMs }, event }: CheckResult): CheckFeedback {
  const failAction = ACTIONS.find((action) => action === event.failAction) ?? "APPEND";
  if (event.hidden) return { failAction, text: hiddenFailure(command) };
  const how = howItFailed(event, timeoutMs);
  const lines = [
    `Guardrail "${command}" failed${how.startsWith("exit code") ? " with" : ":"} ${how}.`,
    ...(hint ? [`Hint: ${hint}`] : []),
    `Output file: ${event.log}`,
    event.output.trim() === "" ? "Output: (none)" : `Output (truncated):\n${event.output}`,
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
