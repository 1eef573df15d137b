import { CHECK_TIMEOUT_MS, LOOP_DEFAULTS } from "../settings/limits.js";
import { asChecks } from "./checks.js";
import { type RecipeSpec, recipeRow } from "./registry.js";

/** The recipe of a further run on the same work: another task, and the checks that the first one had. */
export async function roundRecipe(recipe: RecipeSpec, task: string, workspace: string): Promise<RecipeSpec> {
  if (recipe.kind === "checks") return { ...recipe, task, specFile: undefined };
  if (recipe.kind === "prompt") {
    const { promptFile: _, ...spec } = recipe;
    return { ...spec, prompt: task };
  }
  const commands = (await recipeRow(recipe)).checks?.(recipe, workspace) ?? [];
  const checks = asChecks(commands, CHECK_TIMEOUT_MS);
  return { kind: "checks", task, checks, completionTag: LOOP_DEFAULTS.completionTag };
}
