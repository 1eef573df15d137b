import { resolve } from "node:path";
import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import { type Guardrail, type PromptSpec, readPrompt } from "../recipes/task/run-style.js";
import { baselineWarnings, swallowed } from "../run/flags.js";
import { DEFAULT_LIMITS, invalid, limitsFrom, saysSomething } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { donePattern } from "../verify/done.js";
import { checkScm } from "../workspace/scm.js";
import { type StartFlags, startRun } from "./start-run.js";

export interface RunFlags extends StartFlags {
  prompt?: string;
  promptFile?: string;
  completionResponse?: string;
  donePattern?: string;
  check?: string[];
  streamAgentOutput?: boolean;
}

const GUARDRAIL_TIMEOUT_MS = 10 * 60_000;

/** `ralph run`: asks one prompt until it is done. */
export async function run(flags: RunFlags): Promise<number> {
  const workspace = process.cwd();
  const loaded = await loadSettings(workspace, flags.config);
  const { settings } = loaded;
  const recipe = promptSpec(flags, settings, workspace);
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations: settings.maximumIterations });
  checkScm(workspace, recipe.scm, process.env);
  const stream = flags.streamAgentOutput ?? settings.streamAgentOutput;
  return startRun(flags, loaded, {
    recipe,
    limits,
    stream,
    title: flags.prompt ?? flags.promptFile ?? "",
    warnings: [...weakEnds(recipe, workspace), ...baselineWarnings(flags.baseline, recipe.guardrails.length)],
  });
}

/** Both are allowed, and neither is what most people mean to do. */
function weakEnds(recipe: PromptSpec, workspace: string): string[] {
  const { guardrails, prompt, promptFile, donePattern, completionResponse } = recipe;
  const text = prompt ?? readPrompt(promptFile as string, workspace);
  const asks = donePattern !== undefined || /<response>/i.test(text);
  return [
    ...(guardrails.length > 0 ? [] : ["no guardrail: the agent's word alone decides (--check CMD adds one)"]),
    ...(asks
      ? []
      : [`the prompt does not ask for <response>${completionResponse}</response>, which ends the run`]),
  ];
}

/** What flags and settings ask for. */
function promptSpec(flags: RunFlags, settings: Settings, workspace: string): PromptSpec {
  const checks = (flags.check ?? []).map((command) => ({
    command: saysSomething("--check", command),
    failAction: "APPEND" as const,
  }));
  return {
    kind: "prompt",
    ...promptSource(flags, workspace),
    completionResponse: saysSomething("-c", flags.completionResponse ?? settings.completionResponse),
    ...(flags.donePattern !== undefined && { donePattern: validPattern(flags.donePattern) }),
    guardrails: [...settings.guardrails, ...checks].map(withTimeout),
    ...(settings.scm && { scm: settings.scm }),
    outputTruncateChars: settings.outputTruncateChars,
    includeIterationCountInPrompt: settings.includeIterationCountInPrompt,
  };
}

const ONE_PROMPT = "give exactly one of --prompt TEXT and --prompt-file FILE";

function promptSource(
  { prompt, promptFile, ...flags }: RunFlags,
  workspace: string,
): Pick<PromptSpec, "prompt" | "promptFile"> {
  if ((prompt === undefined) === (promptFile === undefined)) {
    const what =
      prompt === undefined ? "no prompt was given" : "--prompt and --prompt-file exclude each other";
    throw new RalphError(what, {
      code: "prompt_choice",
      hint: (prompt === undefined && swallowed(flags, "ralph run -p")) || ONE_PROMPT,
    });
  }
  if (prompt?.trim() === "") throw new RalphError("the prompt is empty", { code: "prompt_empty" });
  if (promptFile === undefined) return { prompt: prompt as string };
  // From a worktree it is found again, and with what is in it now.
  return { promptFile: flags.worktree === undefined ? promptFile : resolve(workspace, promptFile) };
}

export function validPattern(pattern: string): string {
  saysSomething("--done-pattern", pattern);
  try {
    donePattern(pattern);
    return pattern;
  } catch (error) {
    throw invalid("--done-pattern", pattern, `a regular expression (${(error as Error).message})`);
  }
}

function withTimeout({ timeout, ...guardrail }: Settings["guardrails"][number]): Guardrail {
  const timeoutMs =
    timeout === undefined ? GUARDRAIL_TIMEOUT_MS : (parseDuration(timeout) ?? GUARDRAIL_TIMEOUT_MS);
  return { ...guardrail, timeoutMs };
}
