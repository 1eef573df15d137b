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
