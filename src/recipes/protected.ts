import type { Json, LoopEventBody, Violation } from "../events.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../loop/recipe.js";
import { has } from "../records/files.js";
import { isSuccess } from "../stop-reasons.js";
import { oneLine } from "../verify/excerpt.js";
import { likeness } from "../verify/failure.js";
import type { ProtectedChange, Protection } from "../verify/protected/protection.js";
import { type Start, someOf } from "../workspace/git.js";
import { begunSince, unfinished } from "../workspace/start.js";

/** Iterations in a row that change protected files before the run is given up. */
const MAX_VIOLATIONS = 3;
/** More of them are only counted. */
const MAX_TOLD = 20;

/** The same recipe; what its agents do to protected files is undone before anything is verified. */
export function withProtection(recipe: Recipe, protection: Protection, patterns: readonly string[]): Recipe {
  let last: LastTime = lastTime(undefined);
  let meanwhile: ProtectedChange[] = [];
  const { baseline } = recipe;
  return {
    ...recipe,

    // Checks may change the files before an agent does.
    ...(baseline && {
      async *baseline(before: VerifyContext) {
        await protection.begin(before.iteration, false);
        return yield* baseline(before);
      },
    }),

    async plan(context) {
      last = lastTime(context.memory);
      meanwhile = await protection.begin(context.iteration, context.answered);
      const plan = await recipe.plan({ ...context, memory: last.inner });
      if (plan.prompt === null) return plan;
      const rule = `Protected files: ${patterns.join(", ")}. Do not change, delete or add any of them: ralph undoes that.`;
      const told = last.told.map((what) => `\n- ${what}`).join("");
      const again = told && `\nThe last iteration did so anyway.${told}`;
      return { ...plan, prompt: `${plan.prompt}\n\n${rule}${again}` };
    },

    async release() {
      protection.release();
      await recipe.release?.();
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const { iteration } = verify;
      const undone = await protection.undo(iteration);
      const failed = new Set(undone.filter(hasFailed).map(({ file }) => file));
      const others = meanwhile.filter(({ file }) => !failed.has(file));
      yield* [...others, ...undone].map((one) => violationOf(one, iteration));
      // What was seen before is not what the checks judge.
      const tree = undone.length === 0 ? verify.tree : verify.tree && { ...verify.tree, before: undefined };
      const verdict = yield* recipe.verify(answer, { ...verify, tree });
      if (verdict === undefined) return undefined;
      const byChecks = protection.spoiledBy();
      // A new file that was taken away may be of a check: nobody is to blame for that.
      const inTheEnd = (await protection.undo(iteration)).filter((one) => !one.isNew || hasFailed(one));
      const late = new Map([...byChecks, ...inTheEnd].map((one) => [one.file, one]));
      const meantime = [...late.values()].filter(({ file }) => !failed.has(file));
      yield* meantime.map((one) => violationOf(one, iteration));
      protection.end();
      return judged(verdict, undone, meantime, last);
    },
  };
}

/** For people: an agent need not know where its work is kept. */
export function violationOf({ file, what, kept }: ProtectedChange, iteration: number): Violation {
  const where = kept === undefined ? "" : ` (ralph kept what was there as ${kept})`;
  return { type: "violation", iteration, what: `${what}${where}`, file };
}

/** What an iteration carries over: for the recipe itself, and of the protected files. */
interface LastTime {
  inner: Json | undefined;
  told: string[];
  /** Iterations in a row. */
  violations: number;
}

/** Nothing succeeds on files that were not what they should be: `undone` is of the agent, `meantime` of a check. */
async function judged(
  verdict: Verdict,
  undone: ProtectedChange[],
  meantime: ProtectedChange[],
  last: LastTime,
): Promise<Verdict> {
  const all = [...undone, ...meantime];
  // A run that was given up and is resumed gets another chance.
  const violations = all.length === 0 ? 0 : (last.violations % MAX_VIOLATIONS) + 1;
  const isVoid = meantime.length > 0 || undone.some(hasFailed);
  const isTakenBack = isVoid && isSuccess(verdict.stop);
  const stop = isTakenBack ? undefined : verdict.stop;
  // A recipe that is over may not know how to go on.
  const inner = (isTakenBack && verdict.memory ? last.inner : verdict.memory) ?? null;
  const memory: Json = { inner, told: all.slice(0, MAX_TOLD).map(({ what }) => what), violations };
  if (all.length === 0 || (!isVoid && stop !== undefined)) return { ...verdict, memory };
  const named = (what: string, changes: ProtectedChange[]): string[] => {
    const names = changes.map(({ file, failed }) => (failed === undefined ? file : `${file} (${failed})`));
    return names.length === 0 ? [] : [`${what}: ${someOf(names)}`];
  };
  const isBack = ({ failed }: ProtectedChange): boolean => failed === undefined;
  const reason = [
    ...named("ralph could not restore protected files", all.filter(hasFailed)),
    ...named("the agent changed protected files", undone.filter(isBack)),
    ...named("protected files changed during verification", meantime.filter(isBack)),
    verdict.reason,
  ].join("; ");
  const failure = await likeness([reason, verdict.failure ?? ""]);
  const { stop: _, ...rest } = verdict;
  const end = stop ?? (violations >= MAX_VIOLATIONS ? "violation" : undefined);
  return { ...rest, passed: false, reason, failure, memory, ...(end && { stop: end }) };
}

function hasFailed({ failed }: ProtectedChange): boolean {
  return failed !== undefined;
}

/** What the recipe carries over, of a run with protected files or without. */
export function ownMemory(memory: Json | undefined): Json | undefined {
  return lastTime(memory).inner;
}

function lastTime(memory: Json | undefined): LastTime {
  const isOurs = has(memory, { told: "array", violations: "number" });
  if (!isOurs) return { inner: memory, told: [], violations: 0 };
  const { inner, told, violations } = memory as unknown as LastTime;
  return { inner: inner ?? undefined, told: told.map(String), violations };
}

/** The same recipe; it is not done while a merge, a rebase or the like is under way that an agent has begun. */
export function untilMerged(recipe: Recipe, start: Start): Recipe {
  let memory: Json | undefined;
  let found: string | undefined;
  return {
    ...recipe,

    async plan(context: PlanContext) {
      memory = context.memory;
      const plan = await recipe.plan(context);
      const told = found ?? begunSince(start);
      found = undefined;
      if (plan.prompt === null || told === undefined) return plan;
      return { ...plan, prompt: `${plan.prompt}\n\nIn the git repository ${told}.` };
    },

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const verdict = yield* recipe.verify(answer, verify);
      found = isSuccess(verdict?.stop) ? await unfinished(start.root, start) : undefined;
      if (verdict === undefined || found === undefined) return verdict;
      const { claimedDone } = verdict;
      const reason = `${verdict.reason}, but ${found}`;
      const failure = await likeness([found]);
      // A recipe that is over may not know how to go on: its memory is the one from before.
      return { passed: false, reason, claimedDone, failure, ...(memory !== undefined && { memory }) };
    },
  };
}

const COMMAND_CHARS = 60;

/**
 * The same recipe; it does not succeed where every check passed before the first iteration: that they pass in the end
 * proves nothing new. No later iteration could change that, so the run is over.
 */
export function withWitness(recipe: Recipe): Recipe {
  let baseline: PlanContext["baseline"];
  return {
    ...recipe,

    async plan(context: PlanContext) {
      baseline = context.baseline;
      return recipe.plan(context);
    },

    async *verify(answer: Answer, verify: VerifyContext) {
      const verdict = yield* recipe.verify(answer, verify);
      if (verdict === undefined || !isSuccess(verdict.stop)) return verdict;
      if (baseline?.some(({ before }) => !before)) return verdict;
      const names = baseline?.map(({ command }) => oneLine(command, COMMAND_CHARS)) ?? [];
      const why = names.length === 0 ? "there is no check" : `these never failed: ${someOf(names)}`;
      const reason = `no check went from red to green (--require-witness): ${why}`;
      return {
        passed: false,
        claimedDone: verdict.claimedDone,
        reason,
        failure: "no witness",
        stop: "stuck",
      };
    },
  };
}
