import type { LoopEventBody } from "../../events.js";
import type { Answer, Recipe, Verdict, VerifyContext } from "../../loop/recipe.js";
import { hasFailed } from "../../verify/check.js";
import { donePattern } from "../../verify/done.js";
import { saysDone } from "../../verify/echo.js";
import { runChecks } from "../../verify/schedule.js";
import { readAnyText } from "../text-file.js";
import { type ChecksSpec, loopStyle } from "./loop-style.js";
import { type PromptSpec, runStyle } from "./run-style.js";
import type { TaskContext } from "./style.js";

/** Asks for the same task until every check passes and the agent says that it is done. */
export function taskRecipe(spec: PromptSpec | ChecksSpec, context: TaskContext): Recipe {
  const style = spec.kind === "prompt" ? runStyle(spec, context) : loopStyle(spec, context);
  return {
    name: spec.kind,
    verifies: spec.kind === "checks" || spec.guardrails.length > 0,

    plan: async (plan) => ({ prompt: await style.prompt(plan) }),

    async *baseline(before: VerifyContext) {
      const results = yield* runChecks(style.checks(before.iteration), context, before);
      return results?.map(({ event }) => event);
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const claimedDone = style.saysDone(answer.finalMessage);
      // Checks that decide nothing yet run again before anything depends on them: the tree need not be compared.
      const tree = claimedDone || style.checksDecide ? verify.tree : undefined;
      const results = yield* runChecks(style.checks(verify.iteration), context, { ...verify, tree });
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
      const claimedDone = error === null && isDone(finalMessage);
      return claimedDone
        ? { passed: true, reason: "done pattern matched", claimedDone, stop: "completed" }
        : { passed: true, reason: "iteration completed", claimedDone };
    },
  };
}
