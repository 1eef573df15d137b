import { agentFor } from "../agents/index.js";
import { readTextFile } from "../recipes/prompt.js";
import {
  type ChecksFlags,
  checksSpec,
  type PromptFlags,
  promptSpec,
  type RepeatFlags,
  repeatSpec,
  workerSpec,
} from "../recipes/task/flags.js";
import { type PromptSpec, readPrompt } from "../recipes/task/run-style.js";
import type { IssueLink } from "../records/spec.js";
import { unlessDefault } from "../run/agent-spec.js";
import { sandboxFrom, usesTerminal } from "../run/spec.js";
import { limitsFrom, limitsOf, loopLimits } from "../settings/limits.js";
import { loadSettings, loopSection } from "../settings/load.js";
import { saysTag } from "../verify/done.js";
import { quoteWord, splitWords } from "../words.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { checkScm } from "../workspace/scm.js";
import { failure } from "./output.js";
import { type StartFlags, startRun } from "./start-run.js";
import { type GivenTask, type IssueFlags, readStdin, type TaskText, taskText, titleOf } from "./task-text.js";

/** `ralph run`: asks one prompt until it is done. */
export async function run(
  text: string | undefined,
  given: StartFlags & PromptFlags & IssueFlags & { streamAgentOutput?: boolean },
): Promise<number> {
  const workspace = process.cwd();
  const { prompt: _, promptFile: __, ...others } = given;
  const { link: issue, ...asked } = await taskText(text, given);
  const flags = { ...others, ...asked };
  const title = titleOf({ ...asked, ...(issue && { link: issue }) });
  const loaded = await loadSettings(workspace, flags.config);
  const { settings } = loaded;
  const recipe = promptSpec(flags, settings, workspace);
  const limits = limitsFrom(flags, limitsOf(settings));
  checkScm(workspace, recipe.scm, process.env);
  return startRun(flags, loaded, {
    recipe,
    limits,
    stream: flags.streamAgentOutput ?? settings.streamAgentOutput,
    title,
    issue,
    warnings: weakEnds(recipe, workspace, flags),
  });
}

/** Allowed, but rarely intended. */
function weakEnds(recipe: PromptSpec, workspace: string, { hiddenCheck = [] }: StartFlags): string[] {
  const { checks, prompt, promptFile, donePattern, doneInstruction, completionResponse } = recipe;
  const text = prompt ?? readPrompt(promptFile as string, workspace);
  const asks = doneInstruction !== false || donePattern !== undefined || /<response>/i.test(text);
  const isDone = `<response>${completionResponse}</response>`;
  return [
    ...(checks.length + hiddenCheck.length > 0
      ? []
      : ["no check: the agent alone decides when it is done (--check CMD adds one)"]),
    ...(asks ? [] : [`the prompt does not mention ${isDone}, and only that ends the run`]),
  ];
}

export type LoopFlags = StartFlags & ChecksFlags & TaskText & IssueFlags;

/** `ralph loop TASK --check CMD…`: asks for a task until every check passes. */
export async function loop(given: string | undefined, all: LoopFlags): Promise<number> {
  const { flags, loaded, start } = await loopStart(given, all);
  return startRun(flags, loaded, start);
}

/** Everything that starts a loop over a task. */
export async function loopStart(given: string | undefined, { agent, ...all }: LoopFlags) {
  const origin = process.cwd();
  // It may have taken the task for its kind.
  sandboxFrom(all);
  const { task, link: issue, ...flags } = await withTask(given, all);
  const loaded = await loadSettings(origin, flags.config);
  const section = loopSection(loaded.settings);
  const recipe = checksSpec(task, flags, loaded.settings, origin);
  const text = flags.spec === undefined ? recipe.task : readTextFile("spec file", flags.spec, origin);
  const start = {
    recipe,
    limits: limitsFrom(flags, loopLimits(loaded.settings, section)),
    stream: loaded.settings.streamAgentOutput,
    agent: unlessDefault(agent ?? section.agent, loaded.settings),
    title: titleOf({ prompt: task ?? flags.spec ?? "", ...(issue && { link: issue }) }),
    issue,
    warnings: await loopWarnings(origin, text, recipe.completionTag),
  };
  return { flags, loaded, start };
}

/** A spec file takes the place of TASK, and excludes the others. */
async function withTask(
  given: string | undefined,
  { prompt, promptFile, issue, trustAuthor, spec, ...others }: Omit<LoopFlags, "agent">,
): Promise<Omit<LoopFlags, "agent"> & { task: string | undefined; link?: IssueLink }> {
  if (spec !== undefined && (prompt ?? promptFile ?? issue) !== undefined) {
    const other = prompt !== undefined ? "--prompt" : promptFile !== undefined ? "--prompt-file" : "--issue";
    throw failure("prompt_choice", `--spec and ${other} exclude each other`, "give one of them");
  }
  const texts = definedOf({ prompt, promptFile, issue, trustAuthor });
  const text: GivenTask = spec === "-" ? { prompt: await readStdin() } : await taskText(given, texts);
  const file = spec === "-" ? undefined : (spec ?? text.promptFile);
  const { prompt: task, link } = text;
  return { ...others, task, ...(link && { link }), ...(file !== undefined && { spec: file }) };
}

function definedOf<Values extends object>(values: Values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof Values]?: NonNullable<Values[Name]> };
}

const NOT_TOLD = "prompts cannot show what has changed so far";

async function loopWarnings(origin: string, text: string, tag: string | null): Promise<string[]> {
  const isRepository = repositoryRoot(origin) !== undefined;
  // git may be missing, or refuse a folder of another user.
  const asked = isRepository ? await git(origin, ["rev-parse", "--git-dir"]) : undefined;
  const why = asked && (asked.spawnError?.message ?? asked.stderr.trim().split("\n", 1)[0]);
  return [
    ...(isRepository ? [] : [`not a git repository: ${NOT_TOLD}`]),
    ...(asked === undefined || asked.ok ? [] : [`${NOT_TOLD}: ${why}`]),
    // An agent that repeats the task would seem to be done.
    ...(tag === null || !saysTag(text, tag)
      ? []
      : [`the task contains ${tag} on a line of its own: choose another word with --completion-tag TAG`]),
  ];
}

const MANY_ITERATIONS = 50;
const MANY = `high iteration count (>${MANY_ITERATIONS}) may consume significant resources`;
/** Of a command on a terminal, whose silence is judged by its screen. */
const SCREEN_TIMEOUT_MS = 60_000;

/**
 * The loop of `ralph spawn … -- COMMAND`: repeats the prompt of a file. A known agent works as in `ralph run`; any
 * other command gets the window's terminal, and nothing verifies its work.
 */
export async function repeat(
  words: string[],
  flags: StartFlags & RepeatFlags & { promptVia?: "stdin" | "keys" },
): Promise<number> {
  const { promptFile, promptVia } = flags;
  if (flags.agent !== undefined && words.length > 0)
    throw failure("flag_invalid", "--agent and a command behind -- exclude each other");
  const origin = process.cwd();
  const loaded = await loadSettings(origin, flags.config);
  const given = words.length === 0 ? flags.agent : words.map(quoteWord).join(" ");
  const agent = given ?? loaded.settings.agent?.command;
  const command = loaded.settings.agents?.[agent ?? ""]?.command ?? agent ?? "";
  const { name: kind } = await agentFor(splitWords(command)[0] ?? "claude");
  const onTerminal = usesTerminal(kind, promptVia);
  const silence = onTerminal ? { inactivityTimeoutMs: SCREEN_TIMEOUT_MS } : {};
  const recipe = onTerminal ? repeatSpec(flags, origin) : workerSpec(flags, loaded.settings, origin);
  if ("scm" in recipe) checkScm(origin, recipe.scm, process.env);
  const limits = limitsFrom(flags, limitsOf(loaded.settings, silence));
  return startRun({ ...flags, ...(agent !== undefined && { agent }) }, loaded, {
    recipe,
    limits,
    stream: true,
    title: promptFile,
    sharesWorkspace: true,
    promptVia,
    warnings: [
      ...(limits.maxIterations > MANY_ITERATIONS ? [MANY] : []),
      ...(recipe.kind === "prompt" ? weakEnds(recipe, origin, flags) : []),
    ],
  });
}
