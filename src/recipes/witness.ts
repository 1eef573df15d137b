import type { Answer, PlanContext, Recipe, VerifyContext } from "../loop/recipe.js";
import { isSuccess } from "../stop-reasons.js";
import { oneLine } from "../verify/excerpt.js";
import { someOf } from "../workspace/git.js";

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
