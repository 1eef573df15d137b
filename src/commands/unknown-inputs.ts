import { nearest } from "../nearest.js";
import { recipeRow } from "../recipes/registry.js";
import type { RunSpec } from "../run/spec.js";
import { brief } from "../views/harmless.js";

/** A command in `checks.inputs` that is written in another way than the check itself makes nothing quicker. */
export async function unknownInputs(spec: RunSpec): Promise<string[]> {
  const named = Object.keys(spec.checks?.inputs ?? {});
  if (named.length === 0) return [];
  const checks = (await recipeRow(spec.recipe)).checks?.(spec.recipe, spec.workspace);
  if (checks === undefined) return [];
  return named.filter((command) => !checks.includes(command)).map((command) => noCheck(command, checks));
}

function noCheck(command: string, checks: string[]): string {
  const meant = nearest(command, checks);
  const hint = meant === undefined ? "" : `; did you mean "${brief(meant)}"?`;
  return `checks.inputs: "${brief(command)}" is no check of this run${hint}`;
}
