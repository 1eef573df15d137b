import type { RecipeRow } from "../row.js";
import { readAnyText } from "../text-file.js";
import { type PromptSpec, promptRecipe } from "./prompt.js";
import { type RepeatSpec, repeatRecipe } from "./repeat.js";

export const prompt: RecipeRow<PromptSpec> = {
  create: promptRecipe,
  checks: ({ guardrails }) => guardrails.map(({ command }) => command),
  hasInputs: ({ guardrails }) => guardrails.some(({ inputs }) => inputs !== undefined),
  commits: ({ scm }) => scm && "ralph",
};

export const repeat: RecipeRow<RepeatSpec> = {
  create: repeatRecipe,
  ignoresNetSettings: true,
  checkResume: ({ promptFile }, workspace) => void readAnyText("prompt file", promptFile, workspace),
};
