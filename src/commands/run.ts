import { agentFor } from "../agents/index.js";
import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import { agentEnvironment, resolveAgent } from "../host/agent-spec.js";
import type { RunSpec } from "../host/spec.js";
import { hostRun } from "../host/terminal.js";
import type { Guardrail } from "../recipes/prompt/guardrails.js";
import { type PromptSpec, readPrompt } from "../recipes/prompt/prompt.js";
import { type LoadedSettings, loadSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { newRunId } from "../state/runs.js";
import { headCommit } from "../workspace/changes.js";
import { checkScm, checkWorkspace } from "../workspace/ready.js";
import { DEFAULT_LIMITS, invalid, limitsFrom, type SafetyNetFlags } from "./flags.js";
import { type OutputFlags, viewFor } from "./output.js";
import { withoutSecrets } from "./shown-settings.js";

export interface RunFlags extends SafetyNetFlags, OutputFlags {
  prompt?: string;
  promptFile?: string;
  maximumIterations?: string;
  completionResponse?: string;
  donePattern?: string;
  check?: string[];
  streamAgentOutput?: boolean;
  agent?: string;
  model?: string;
  agentFlag?: string[];
  config?: string;
}

const GUARDRAIL_TIMEOUT_MS = 10 * 60_000;

/** `ralph run`: asks one prompt until it is done. */
export async function run(flags: RunFlags): Promise<number> {
  const workspace = process.cwd();
  const now = new Date();
  const base = headCommit(workspace);
  const loaded = await loadSettings(workspace, flags.config);
  const { settings } = loaded;
  const recipe = promptSpec(flags, settings, workspace);
  const maxIterations = flags.maxIterations ?? flags.maximumIterations;
  const limits = limitsFrom(
    { ...flags, ...(maxIterations !== undefined && { maxIterations }) },
    { ...DEFAULT_LIMITS, maxIterations: settings.maximumIterations },
  );
  const agent = await resolveAgent(
    { agent: flags.agent, model: flags.model, agentFlags: flags.agentFlag ?? [] },
    settings,
    workspace,
    process.env,
  );
  checkWorkspace(workspace);
  checkScm(workspace, recipe.scm, process.env);
  const stream = flags.streamAgentOutput ?? settings.streamAgentOutput;
  const spec: RunSpec = {
    v: 1,
    id: newRunId(now),
    createdAt: now.toISOString(),
    workspace,
    base: await base,
    recipe,
    agent,
    limits,
    stream,
    config: flags.config,
  };
  if (flags.verbose) sayWhatWasLoaded(loaded);
  await warnOfBlindLimits(spec);
  const agentEnv = agentEnvironment(agent, settings);
  return hostRun(spec, { agentEnv, view: await viewFor(flags, { showAgent: stream }) });
}

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

function promptSource(
  { prompt, promptFile }: RunFlags,
  workspace: string,
): Pick<PromptSpec, "prompt" | "promptFile"> {
  if ((prompt === undefined) === (promptFile === undefined)) {
    const what =
      prompt === undefined ? "no prompt was given" : "--prompt and --prompt-file exclude each other";
    throw new RalphError(what, {
      code: "prompt_choice",
      hint: "give exactly one of --prompt TEXT and --prompt-file FILE",
    });
  }
  if (promptFile !== undefined) readPrompt(promptFile, workspace);
  if (prompt?.trim() === "") throw new RalphError("the prompt is empty", { code: "prompt_empty" });
  return prompt === undefined ? { promptFile: promptFile as string } : { prompt };
}

/** An empty value is most often a variable that was not set. */
function saysSomething(flag: string, value: string): string {
  if (value.trim() === "") throw invalid(flag, '""', "something in it");
  return value;
}

function validPattern(pattern: string): string {
  saysSomething("--done-pattern", pattern);
  try {
    new RegExp(pattern);
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

/** A limit that nothing can measure is worse than none, because it is trusted. */
async function warnOfBlindLimits({ agent: { name, words }, limits, stream }: RunSpec): Promise<void> {
  const told = stream ? (await agentFor(words[0] ?? "")).reports : [];
  const who = stream ? name : `${name} without its stream`;
  const blind = [
    ...(limits.maxCostUsd !== null && !told.includes("cost") ? ["cost"] : []),
    ...(limits.maxTokens !== null && !told.includes("tokens") ? ["tokens"] : []),
  ];
  for (const what of blind) {
    process.stderr.write(
      `ralph: warning: ${who} does not tell its ${what}: --max-${what} cannot stop it, --max-time can\n`,
    );
  }
}

function sayWhatWasLoaded({ settings, files }: LoadedSettings): void {
  for (const { name } of files) process.stderr.write(`[ralph] Loading settings from ${name}\n`);
  process.stderr.write(`[ralph] Settings: ${JSON.stringify(withoutSecrets(settings))}\n`);
}
