import type { RecipeRow } from "../row.js";
import { tasksToShow } from "./start-list.js";
import { type StoriesSpec, storiesRecipe } from "./stories.js";

export const stories: RecipeRow<StoriesSpec> = {
  // No run over stories begins outside of a repository.
  create: (spec, context) => storiesRecipe(spec, { ...context, inRepository: true }),
  checks: ({ dir }, workspace) => tasksToShow(dir, workspace).verifyCommands ?? [],
  commits: () => "agents",
};
