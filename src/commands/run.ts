import { type PromptFlags, promptSpec } from "../recipes/task/flags.js";
import { type PromptSpec, readPrompt } from "../recipes/task/run-style.js";
import { baselineWarnings } from "../run/flags.js";
import { DEFAULT_LIMITS, limitsFrom } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import { checkScm } from "../workspace/scm.js";
import { type StartFlags, startRun } from "./start-run.js";

type RunFlags = StartFlags & PromptFlags & { streamAgentOutput?: boolean };

/** `ralph run`: asks one prompt until it is done. */
export async function run(flags: RunFlags): Promise<number> {
  const workspace = process.cwd();
  const loaded = await loadSettings(workspace, flags.config);
  const { settings } = loaded;
  const recipe = promptSpec(flags, settings, workspace);
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations: settings.maximumIterations });
  checkScm(workspace, recipe.scm, process.env);
  return startRun(flags, loaded, {
    recipe,
    limits,
    stream: flags.streamAgentOutput ?? settings.streamAgentOutput,
    title: flags.prompt ?? flags.promptFile ?? "",
    warnings: [...weakEnds(recipe, workspace), ...baselineWarnings(flags.baseline, recipe.guardrails.length)],
  });
}

/** Both are allowed, and neither is what most people mean to do. */
function weakEnds(recipe: PromptSpec, workspace: string): string[] {
  const { guardrails, prompt, promptFile, donePattern, completionResponse } = recipe;
  const text = prompt ?? readPrompt(promptFile as string, workspace);
  const asks = donePattern !== undefined || /<response>/i.test(text);
  const isDone = `<response>${completionResponse}</response>`;
  return [
    ...(guardrails.length > 0 ? [] : ["no guardrail: the agent's word alone decides (--check CMD adds one)"]),
    ...(asks ? [] : [`the prompt does not ask for ${isDone}, which ends the run`]),
  ];
}
