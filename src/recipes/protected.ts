import type { Json, LoopEventBody, Violation } from "../events.js";
import { likeness } from "../verify/likeness.js";
import type { Protection, Undone } from "../workspace/protected/protection.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "./recipe.js";

/** Iterations in a row that change protected files before the run is given up. */
const MAX_VIOLATIONS = 3;
/** More of them are only counted. */
const MAX_TOLD = 20;

/** The same recipe; what its agents do to protected files is undone before anything is verified. */
export function withProtection(recipe: Recipe, protection: Protection, patterns: readonly string[]): Recipe {
  let last: LastTime = lastTime(undefined);
  let meanwhile: Undone[] = [];
  return {
    ...recipe,

    async plan(context: PlanContext) {
      last = lastTime(context.memory);
      meanwhile = await protection.begin(context.iteration, context.answered);
      const plan = await recipe.plan({ ...context, memory: last.inner });
      if (plan.prompt === null) return plan;
      return { ...plan, prompt: `${plan.prompt}\n\n${section(patterns, last.told)}` };
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const { iteration } = verify;
      const undone = await protection.undo(iteration);
      yield* [...meanwhile, ...undone].map((one) => violationOf(one, iteration));
      // What was seen before is not what the checks judge.
      const tree = undone.length === 0 ? verify.tree : verify.tree && { ...verify.tree, before: undefined };
      const verdict = yield* recipe.verify(answer, { ...verify, tree });
      if (verdict === undefined) return undefined;
      // Checks may write there, too, and nobody is to blame for that.
      await protection.undo(iteration);
      protection.end();
      return judged(verdict, undone, last);
    },
  };
}

/** For people: an agent need not know where its work is kept. */
export function violationOf({ file, what, kept }: Undone, iteration: number): Violation {
  const where = kept === undefined ? "" : ` (what was there is kept as ${kept})`;
  return { type: "violation", iteration, what: `${what}${where}`, file };
}

interface LastTime {
  /** What the recipe itself carries over. */
  inner: Json | undefined;
  told: string[];
  /** Iterations in a row. */
  violations: number;
}

async function judged(verdict: Verdict, undone: Undone[], last: LastTime): Promise<Verdict> {
  const violations = undone.length === 0 ? 0 : inARow(last) + 1;
  const told = undone.slice(0, MAX_TOLD).map(({ what }) => what);
  const memory: Json = { inner: verdict.memory ?? null, told, violations };
  if (undone.length === 0 || verdict.stop !== undefined) return { ...verdict, memory };
  const reason = `the agent changed protected files: ${namesOf(undone)}; ${verdict.reason}`;
  const failure = await likeness([reason, verdict.failure ?? ""]);
  const stop = violations >= MAX_VIOLATIONS ? { stop: "violation" as const } : {};
  return { ...verdict, passed: false, reason, failure, memory, ...stop };
}

const MAX_NAMES = 3;

function namesOf(undone: Undone[]): string {
  const more = undone.length > MAX_NAMES ? ` and ${undone.length - MAX_NAMES} more` : "";
  return `${undone
    .slice(0, MAX_NAMES)
    .map(({ file }) => file)
    .join(", ")}${more}`;
}

/** Whoever resumes a run that was given up gives it another chance. */
function inARow({ violations }: LastTime): number {
  return violations >= MAX_VIOLATIONS ? 0 : violations;
}

function section(patterns: readonly string[], told: string[]): string {
  const rule = `Protected files: ${patterns.join(", ")}. Do not change, delete or add any of them: that is undone.`;
  if (told.length === 0) return rule;
  const wrong = told.map((what) => `- ${what}`).join("\n");
  return `${rule}\nThe last iteration did it all the same. If it was committed, commit the files as they are now.\n${wrong}`;
}

/** It is read from the journal, so it is looked at before it is used. */
function lastTime(memory: Json | undefined): LastTime {
  const found = typeof memory === "object" && memory !== null && !Array.isArray(memory) ? memory : {};
  const { inner, told, violations } = found;
  return {
    inner: inner ?? undefined,
    told: Array.isArray(told) ? told.filter((text) => typeof text === "string") : [],
    violations: typeof violations === "number" ? violations : 0,
  };
}
