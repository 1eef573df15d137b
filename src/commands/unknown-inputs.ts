import { nearest } from "../nearest.js";
import type { RunSpec } from "../run/spec.js";
import { brief } from "../views/harmless.js";

/** A command in `checks.inputs` that is written in another way than the check itself makes nothing quicker. */
export async function unknownInputs(spec: RunSpec): Promise<string[]> {
  const named = Object.keys(spec.checks?.inputs ?? {});
  if (named.length === 0 || spec.recipe.kind === "repeat") return [];
  const checks = await checksOf(spec);
  return named.filter((command) => !checks.includes(command)).map((command) => noCheck(command, checks));
}

function noCheck(command: string, checks: string[]): string {
  const meant = nearest(command, checks);
  const hint = meant === undefined ? "" : `; did you mean "${brief(meant)}"?`;
  return `checks.inputs: "${brief(command)}" is no check of this run${hint}`;
}

async function checksOf({ recipe, workspace }: RunSpec): Promise<string[]> {
  switch (recipe.kind) {
    case "prompt":
      return recipe.guardrails.map(({ command }) => command);
    case "checks":
      return recipe.checks;
    case "stories": {
      const { tasksToShow } = await import("../recipes/stories/start-list.js");
      return tasksToShow(recipe.dir, workspace).verifyCommands ?? [];
    }
    case "pipeline":
      return recipe.states.map(({ command }) => command);
    case "repeat":
      return [];
  }
}
