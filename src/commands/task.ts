import { agentFor } from "../agents/index.js";
import { RalphError } from "../errors.js";
import {
  type ChecksFlags,
  checksSpec,
  type PromptFlags,
  promptSpec,
  type RepeatFlags,
  repeatSpec,
} from "../recipes/task/flags.js";
import type { ChecksSpec } from "../recipes/task/loop-style.js";
import { type PromptSpec, readPrompt } from "../recipes/task/run-style.js";
import { readTextFile } from "../recipes/text-file.js";
import { unlessDefault } from "../run/agent-spec.js";
import { baselineWarnings, sandboxFrom } from "../run/flags.js";
import { usesTerminal } from "../run/spec.js";
import { DEFAULT_LIMITS, LOOP_DEFAULTS, limitsFrom, limitsOfSection } from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { saysTag } from "../verify/done.js";
import { quoteWord, splitWords } from "../words.js";
import { git, repositoryRoot } from "../workspace/git.js";
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

type LoopFlags = StartFlags & ChecksFlags;

/** `ralph loop TASK --check CMD…`: asks for a task until every check passes. */
export async function loop(task: string | undefined, { agent, ...flags }: LoopFlags): Promise<number> {
  const origin = process.cwd();
  // It may have taken the task for its kind.
  sandboxFrom(flags);
  const loaded = await loadSettings(origin, flags.config);
  const section = loopSection(loaded.settings);
  const recipe = checksSpec(task, flags, section, origin);
  const text = flags.spec === undefined ? recipe.task : readTextFile("spec file", flags.spec, origin);
  const { maxIterations } = LOOP_DEFAULTS;
  return startRun(flags, loaded, {
    recipe,
    limits: limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations, ...limitsOfSection(section) }),
    stream: loaded.settings.streamAgentOutput,
    agent: unlessDefault(agent ?? section.agent, loaded.settings),
    title: task ?? flags.spec ?? "",
    warnings: [...(await repositoryWarnings(origin)), ...tagWarnings(text, recipe)],
  });
}

const NOT_TOLD = "agents are not told what has changed so far";

/** git may be missing, or refuse to look at somebody else's folder. */
async function repositoryWarnings(origin: string): Promise<string[]> {
  if (repositoryRoot(origin) === undefined) return [`not a git repository: ${NOT_TOLD}`];
  const { ok, stderr, spawnError } = await git(origin, ["rev-parse", "--git-dir"]);
  return ok ? [] : [`${NOT_TOLD}: ${spawnError?.message ?? stderr.trim().split("\n", 1)[0]}`];
}

/** An agent that repeats the task would seem to be done. */
function tagWarnings(text: string, { completionTag: tag }: ChecksSpec): string[] {
  if (tag === null || !saysTag(text, tag)) return [];
  return [`the task itself says ${tag} on a line of its own: --completion-tag TAG chooses another word`];
}

/** `ralph spawn` has checked them. */
type WorkerFlags = StartFlags & RepeatFlags & { promptVia?: "stdin" | "keys" };

const MANY_ITERATIONS = 50;
const MANY = `high iteration count (>${MANY_ITERATIONS}) may consume significant resources`;
/** Of a command on a terminal, whose silence is judged by its screen. */
const SCREEN_TIMEOUT_MS = 60_000;

/** The loop of `ralph spawn … -- COMMAND`: asks what stands in a file, again and again. */
export async function repeat(words: string[], flags: WorkerFlags): Promise<number> {
  const { promptFile, promptVia } = flags;
  const origin = process.cwd();
  const recipe = repeatSpec(flags, origin);
  const loaded = await loadSettings(origin, flags.config);
  const agent = agentFrom(words, flags) ?? loaded.settings.agent?.command;
  const onTerminal = usesTerminal(await kindOf(agent, loaded.settings), promptVia);
  const silence = onTerminal ? { inactivityTimeoutMs: SCREEN_TIMEOUT_MS } : {};
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, ...silence });
  return startRun({ ...flags, ...(agent !== undefined && { agent }) }, loaded, {
    recipe,
    limits,
    stream: true,
    title: promptFile,
    sharesWorkspace: true,
    promptVia,
    warnings: limits.maxIterations > MANY_ITERATIONS ? [MANY] : [],
  });
}

function agentFrom(words: string[], { agent }: WorkerFlags): string | undefined {
  if (words.length === 0) return agent;
  if (agent === undefined) return words.map(quoteWord).join(" ");
  throw new RalphError("--agent and a command behind -- exclude each other", { code: "flag_invalid" });
}

async function kindOf(agent = "", { agents }: Settings) {
  const command = agents?.[agent]?.command ?? agent;
  return (await agentFor(splitWords(command)[0] ?? "claude")).name;
}
