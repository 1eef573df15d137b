import { LOOP_DEFAULTS } from "../../settings/limits.js";
import type { RecipeRow } from "../row.js";
import { readAnyText } from "../text-file.js";
import type { ChecksSpec } from "./loop-style.js";
import type { PromptSpec } from "./run-style.js";
import { type RepeatSpec, repeatRecipe, taskRecipe } from "./task.js";

export const prompt: RecipeRow<PromptSpec> = {
  create: taskRecipe,
  checks: ({ guardrails }) => guardrails.map(({ command }) => command),
  hasInputs: ({ guardrails }) => guardrails.some(({ inputs }) => inputs !== undefined),
  commits: ({ scm }) => scm && "ralph",
};

export const checks: RecipeRow<ChecksSpec> = {
  create: taskRecipe,
  checks: (spec) => spec.checks,
  mostIterations: LOOP_DEFAULTS.mostIterations,
};

export const repeat: RecipeRow<RepeatSpec> = {
  create: repeatRecipe,
  ignoresNetSettings: true,
  checkResume: ({ promptFile }, workspace) => void readAnyText("prompt file", promptFile, workspace),
};
