import type { Json, LoopEventBody } from "../../events.js";
import {
  type Answer,
  deciding,
  type PlanContext,
  type Recipe,
  type Verdict,
  type VerifyContext,
} from "../../loop/recipe.js";
import type { Redact } from "../../records/redact.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { CheckContext } from "../../verify/checks.js";
import { isCompletionResponse } from "../../verify/completion.js";
import { likeness, likenessOf } from "../../verify/likeness.js";
import { donePattern } from "../../verify/pattern.js";
import { hasFailed, type Schedule } from "../../verify/schedule.js";
import {
  type CommitMessage,
  runScm,
  type Scm,
  type ScmContext,
  type ScmFailure,
} from "../../workspace/scm.js";
import { readTextFile } from "../text-file.js";
import {
  type Feedback,
  foldFeedback,
  type Guarded,
  type Guardrail,
  isFeedback,
  runGuardrails,
} from "./guardrails.js";

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
  schedule?: Schedule | undefined;
  /** What a check leaves running is left alone. */
  keepBackground?: boolean | undefined;
  /** Where checks run, if they are shut in. */
  sandbox?: Sandbox | undefined;
  /** Asked after each check: why it does not count. */
  spoiled?: CheckContext["spoiled"];
  askForCommitMessage(iteration: number): Promise<CommitMessage>;
  newPrograms?: ScmContext["newPrograms"];
}

/** Asks the same prompt until the agent says that it is done and every guardrail passes. */
export function promptRecipe(spec: PromptSpec, context: PromptContext): Recipe {
  const pattern = spec.donePattern === undefined ? undefined : donePattern(spec.donePattern);
  const isDone = (message: string): boolean =>
    isCompletionResponse(message, spec.completionResponse) || pattern?.test(message) === true;

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

    async *baseline(before: VerifyContext) {
      return (yield* runGuardrails({ ...spec, ...context }, before))?.results;
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const claimedDone = isDone(answer.finalMessage);
      const judged = deciding(verify, claimedDone || spec.scm !== undefined);
      const guarded = yield* runGuardrails({ ...spec, ...context }, judged);
      if (guarded === undefined) return undefined;
      const failures = guarded.feedback;
      if (failures.length > 0) return guardrailsFailed(guarded, claimedDone);
      if (verify.stop.aborted) return undefined;
      const scm = spec.scm && answer.error === null ? yield* commit(spec.scm, verify) : undefined;
      if (scm !== undefined && isWorkForTheAgent(scm)) {
        return { passed: false, reason: "the commit was refused", claimedDone, memory: remember(told(scm)) };
      }
      if (claimedDone) return { passed: true, reason: "completed", claimedDone, stop: "completed" };
      return { passed: true, reason: "no completion response", claimedDone, memory: remember(told(scm)) };
    },
  };

  function commit(scm: Scm, { iteration, kill, tree }: VerifyContext) {
    const askForMessage = async (): Promise<CommitMessage> => {
      const before = await tree?.look();
      const message = await context.askForCommitMessage(iteration);
      return { ...message, changed: before?.word !== (await tree?.look())?.word };
    };
    return runScm(scm, { ...context, kill, askForMessage }, iteration);
  }
}

async function guardrailsFailed({ feedback, results }: Guarded, claimedDone: boolean): Promise<Verdict> {
  const failure = await likeness(results.filter(hasFailed).map(likenessOf));
  const reason = claimedDone ? "claimed to be done, but guardrails failed" : "guardrails failed";
  return { passed: false, reason, claimedDone, failure, memory: remember(feedback) };
}

/** What a hook refuses to commit, the agent has to mend; a push that fails is beyond it. */
function isWorkForTheAgent({ task, refused }: ScmFailure): boolean {
  return task === "commit" && refused;
}

function told(failure: ScmFailure | undefined): Feedback[] {
  return failure === undefined ? [] : [{ failAction: "APPEND", text: failure.message }];
}

export function readPrompt(file: string, workspace: string): string {
  return readTextFile("prompt file", file, workspace);
}

function remember(feedback: Feedback[]): Json {
  return { feedback: feedback.map(({ failAction, text }) => ({ failAction, text })) };
}

function feedbackIn(memory: Json | undefined): Feedback[] {
  if (typeof memory !== "object" || memory === null || Array.isArray(memory)) return [];
  const feedback: unknown = memory["feedback"];
  return Array.isArray(feedback) ? (feedback as unknown[]).filter(isFeedback) : [];
}
