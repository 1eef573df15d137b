import { agentFor } from "../agents/index.js";
import type { Limits } from "../events.js";
import { nearest } from "../nearest.js";
import { recipeRow } from "../recipes/registry.js";
import { brief } from "../views/harmless.js";
import type { AgentSpec, RunSpec } from "./spec.js";

/** What a spec asks for that will have no effect. */
export async function warningsOf(spec: RunSpec): Promise<string[]> {
  return [...(await blindLimits(spec)), ...(await emptyPatterns(spec)), ...(await unknownInputs(spec))];
}

/** A limit that nothing can measure is worse than none, because it is trusted. */
async function blindLimits({ agent, agents = {}, limits, stream }: RunSpec): Promise<string[]> {
  const all = [agent, ...Object.values(agents)].map((asked) => blindFor(asked, limits, stream));
  return [...new Set((await Promise.all(all)).flat())];
}

async function blindFor(
  { name, words, isFunction }: AgentSpec,
  limits: Limits,
  stream: boolean,
): Promise<string[]> {
  if (isFunction) return [];
  const reported = stream ? (await agentFor(words[0] ?? "")).reports : [];
  const who = stream ? name : `${name} without its stream`;
  const blind = [
    ...(limits.maxCostUsd !== null && !reported.includes("cost") ? ["cost"] : []),
    ...(limits.maxTokens !== null && !reported.includes("tokens") ? ["tokens"] : []),
  ];
  return blind.map(
    (what) => `${who} does not tell its ${what}: --max-${what} cannot stop it, --max-time can`,
  );
}

async function emptyPatterns({ protect = [], workspace }: RunSpec): Promise<string[]> {
  if (protect.length === 0) return [];
  const { withoutFiles } = await import("../verify/protected/protection.js");
  return withoutFiles(protect, workspace).map((pattern) => `protect: no file matches ${pattern} so far`);
}

/** A command in `checks.inputs` that is written in another way than the check itself makes nothing quicker. */
async function unknownInputs({ checks: speed, recipe, workspace }: RunSpec): Promise<string[]> {
  const named = Object.keys(speed?.inputs ?? {});
  if (named.length === 0) return [];
  const checks = (await recipeRow(recipe)).checks?.(recipe, workspace);
  return named
    .filter((command) => checks?.includes(command) === false)
    .map((command) => {
      const meant = nearest(command, checks ?? []);
      const hint = meant === undefined ? "" : `; did you mean "${brief(meant)}"?`;
      return `checks.inputs: "${brief(command)}" is no check of this run${hint}`;
    });
}
