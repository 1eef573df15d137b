import { LOOP_DEFAULTS } from "../../defaults.js";
import { diffSince } from "../../workspace/diff.js";
import type { RecipeRow } from "../row.js";
import { type ChecksSpec, checksRecipe } from "./checks.js";

export const checks: RecipeRow<ChecksSpec> = {
  create: (spec, context) =>
    checksRecipe(spec, {
      ...context,
      diff: () => diffSince(context.workspace, context.base, context.hidden, context.kill),
    }),
  checks: (spec) => spec.checks,
  mostIterations: LOOP_DEFAULTS.mostIterations,
};
