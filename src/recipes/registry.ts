import { CHECK_TIMEOUT_MS, LOOP_DEFAULTS } from "../settings/limits.js";
import { asChecks } from "./checks.js";
import type { RecipeRow } from "./row.js";

/** Each recipe is loaded when it is used. */
const RECIPES = {
  prompt: async () => (await import("./task/task.js")).prompt,
  repeat: async () => (await import("./task/task.js")).repeat,
  checks: async () => (await import("./task/task.js")).checks,
  stories: async () => (await import("./stories/stories.js")).stories,
  pipeline: async () => (await import("./pipeline/pipeline.js")).pipeline,
};

type Rows = typeof RECIPES;
type SpecOf<Row> = Row extends RecipeRow<infer Spec> ? Spec : never;

/** What a recipe is asked to do; `kind` names the recipe. */
export type RecipeSpec = { [Kind in keyof Rows]: SpecOf<Awaited<ReturnType<Rows[Kind]>>> }[keyof Rows];

export function recipeRow({ kind }: RecipeSpec): Promise<RecipeRow<RecipeSpec>> {
  return RECIPES[kind]();
}

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
