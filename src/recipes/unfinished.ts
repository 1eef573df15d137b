import { z } from "zod";
import type { Json, LoopEventBody } from "../events.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../loop/recipe.js";
import { isSuccess } from "../stop-reasons.js";
import { likeness } from "../verify/failure.js";
import type { Start } from "../workspace/git.js";
import { begunSince, unfinishedSince } from "../workspace/start.js";

/** The same recipe; it is not done while a merge, a rebase or the like is under way that an agent has begun. */
export function untilMerged(recipe: Recipe, start: Start): Recipe {
  let last = lastTime(undefined);
  return {
    ...recipe,

    async plan(context: PlanContext) {
      last = lastTime(context.memory);
      const plan = await recipe.plan({ ...context, memory: last.inner });
      if (plan.prompt === null || last.unfinished === undefined) return plan;
      return { ...plan, prompt: `${plan.prompt}\n\nIn the git repository ${last.unfinished}.` };
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const verdict = yield* recipe.verify(answer, verify);
      if (verdict === undefined) return undefined;
      const isDone = isSuccess(verdict.stop);
      const found = isDone ? await unfinishedSince(start) : begunSince(start);
      if (found === undefined) return verdict;
      if (!isDone) return { ...verdict, memory: { unfinished: found, inner: verdict.memory ?? null } };
      const { stop: _, ...rest } = verdict;
      const reason = `${verdict.reason}, but ${found}`;
      const memory = { unfinished: found, inner: last.inner ?? null };
      return { ...rest, passed: false, reason, failure: await likeness([found]), memory };
    },
  };
}

/** What is kept around the memory of the recipe itself. */
const Memory = z.object({ unfinished: z.string(), inner: z.json().optional() });

function lastTime(memory: Json | undefined): { inner: Json | undefined; unfinished: string | undefined } {
  const { data } = Memory.safeParse(memory);
  return { inner: data === undefined ? memory : (data.inner ?? undefined), unfinished: data?.unfinished };
}
