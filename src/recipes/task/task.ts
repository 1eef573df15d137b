import type { LoopEventBody } from "../../events.js";
import type { Answer, Recipe, Verdict, VerifyContext } from "../../loop/recipe.js";
import { LOOP_DEFAULTS } from "../../settings/limits.js";
import { hasFailed } from "../../verify/check.js";
import { donePattern, saysDone } from "../../verify/done.js";
import { runAllChecks } from "../../verify/hidden.js";
import { runChecks } from "../../verify/schedule.js";
import { readAnyText } from "../prompt.js";
import type { RecipeRow } from "../row.js";
import { type ChecksSpec, loopStyle } from "./loop-style.js";
import type { TaskContext } from "./run-style.js";
import { type PromptSpec, runStyle } from "./run-style.js";

export const prompt: RecipeRow<PromptSpec> = {
  create: taskRecipe,
  checks: ({ checks }) => checks.map(({ command }) => command),
  proof: ({ checks }) => checks,
  hasInputs: ({ checks }) => checks.some(({ inputs }) => inputs !== undefined),
  commits: ({ scm }) => scm && "ralph",
};

export const checks: RecipeRow<ChecksSpec> = {
  create: taskRecipe,
  checks: (spec) => spec.checks.map(({ command }) => command),
  proof: ({ checks }) => checks,
  hasInputs: (spec) => spec.checks.some(({ inputs }) => inputs !== undefined),
  mostIterations: LOOP_DEFAULTS.mostIterations,
};

export const repeat: RecipeRow<RepeatSpec> = {
  create: repeatRecipe,
  ignoresNetSettings: true,
  checkResume: ({ promptFile }, workspace) => void readAnyText("prompt file", promptFile, workspace),
};

/** Asks for the same task until every check passes and the agent says that it is done. */
export function taskRecipe(spec: PromptSpec | ChecksSpec, context: TaskContext): Recipe {
  const style = spec.kind === "prompt" ? runStyle(spec, context) : loopStyle(spec, context);
  return {
    name: spec.kind,
    verifies: spec.checks.length + (context.hiddenChecks?.length ?? 0) > 0,
    ...("ofWorker" in spec && spec.checks.length === 0 && { endsAtLimit: true }),

    async plan(plan) {
      const prompt = await style.prompt(plan);
      return { prompt, ...(style.isDone && { isDone: (said) => style.isDone?.(said, prompt) === true }) };
    },

    async *baseline(before: VerifyContext) {
      const results = yield* runChecks(style.checks(before.iteration), context, before);
      return results?.map(({ event }) => event);
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const claimedDone = style.saysDone(answer.finalMessage);
      // Checks that decide nothing yet run again before anything depends on them: the tree need not be compared.
      const tree = claimedDone || style.checksDecide ? verify.tree : undefined;
      const results = yield* runAllChecks(style.checks(verify.iteration), context, { ...verify, tree });
      if (results === undefined) return undefined;
      return yield* style.judge({ answer, results, failed: results.filter(hasFailed), claimedDone }, verify);
    },
  };
}

export interface RepeatSpec {
  kind: "repeat";
  /** Read anew for each iteration, and allowed to be empty. */
  promptFile: string;
  donePattern?: string;
}

/** Asks what stands in a file, as often as it was told to or until the agent says the words that mean done. */
export function repeatRecipe(spec: RepeatSpec): Recipe {
  const pattern = spec.donePattern === undefined ? undefined : donePattern(spec.donePattern);
  let asked = "";
  const isDone = (said: string): boolean => pattern !== undefined && saysDone(said, pattern, asked);
  return {
    name: "prompt",
    verifies: false,
    endsAtLimit: true,

    async plan() {
      asked = readAnyText("prompt file", spec.promptFile, "/");
      return { prompt: asked, ...(pattern !== undefined && { isDone }) };
    },

    // biome-ignore lint/correctness/useYield: it is told from the answer alone
    async *verify({ error, finalMessage }: Answer): AsyncGenerator<LoopEventBody, Verdict> {
      if (error !== null || !isDone(finalMessage))
        return { passed: true, reason: "iteration completed", claimedDone: false };
      return { passed: true, reason: "done pattern matched", claimedDone: true, stop: "completed" };
    },
  };
}
