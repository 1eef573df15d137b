import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { AGENT_NAMES, agentFor } from "../agents/index.js";
import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import { inPackage } from "../package-folder.cjs";
import { which } from "../process/which.js";
import { writeAtomic } from "../records/files.js";
import { DEFAULT_LIMITS, DEFAULTS } from "../settings/limits.js";
import { BASE_FILE } from "../settings/load.js";
import { splitWords } from "../words.js";
import { repositoryRoot } from "../workspace/git.js";
import { projectCommands, setupCommand, testCommand, textOf } from "../workspace/project.js";
import { prepareRuntimeFolder, RUNTIME_FOLDER, requireOwnFolder } from "../workspace/runtime.js";

/** What `ralph init` writes, in the order in which it is written. */
export interface NewSettings {
  $schema: string;
  agent: { command: string };
  checks: string[];
  setup?: string;
  maxIterations: number;
  maxCost?: number;
  maxTime?: string;
  completionResponse: string;
  outputTruncateChars: number;
  streamAgentOutput: boolean;
  includeIterationCountInPrompt: boolean;
  scm?: { command: string; tasks: string[] };
}

export interface Suggestions {
  agents: string[];
  checks: string[];
  /** What installs the dependencies of the project in a new worktree. */
  setup: string;
  inRepository: boolean;
  /** Whether an agent tells what it costs: no other can be stopped by that. */
  tellsCost(command: string): Promise<boolean>;
}

/** The schema lies beside the settings: editors find it without a network. */
const SCHEMA_FILE = "settings.schema.json";
const { checks: _, ...DEFAULT_TEXTS } = DEFAULTS;
const MAX_COST = 10;
const MAX_TIME = "2h";
const NONE = "none";

/** The settings where no question is asked. */
export async function defaultSettings(agent: string, found: Suggestions): Promise<NewSettings> {
  return {
    $schema: `./${SCHEMA_FILE}`,
    agent: { command: agent },
    checks: found.checks,
    ...(found.setup !== "" && { setup: found.setup }),
    maxIterations: DEFAULT_LIMITS.maxIterations,
    ...((await found.tellsCost(agent)) && { maxCost: MAX_COST }),
    maxTime: MAX_TIME,
    ...DEFAULT_TEXTS,
  };
}

const VENV = ".venv/bin/";
const PYTHON_RUNNERS: [file: string, prefix: string][] = [
  ["uv.lock", "uv run "],
  ["poetry.lock", "poetry run "],
  [".venv", VENV],
];

/** A makefile often calls what the project's own tool would run: it is asked when there is nothing else. */
export function suggestionsFor(workspace: string): Suggestions {
  const commands = projectCommands(workspace);
  const isMake = (command: string): boolean => command.startsWith("make ");
  const wanted = commands.filter(
    ({ command, purpose }) =>
      !isMake(command) || commands.every((other) => other.purpose !== purpose || isMake(other.command)),
  );
  // Tools of Python are in the environment of the project, which nothing activates in a run.
  const [, runner] = PYTHON_RUNNERS.find(([file]) => existsSync(join(workspace, file))) ?? [];
  const setup = setupCommand(workspace);
  const required = setup.includes(VENV) ? textOf(workspace, "requirements.txt") : "";
  /** What the setup installs into a new environment is run from there. */
  const inEnvironment = (command: string): string => {
    const [tool] = /^(?:pytest|ruff)\b/.exec(command) ?? [];
    if (tool === undefined) return command;
    return `${runner ?? (required.includes(tool) ? VENV : "")}${command}`;
  };
  return {
    agents: AGENT_NAMES.filter((name) => which(name, workspace).status === "found"),
    checks: wanted.map(({ command }) => inEnvironment(command)),
    setup,
    inRepository: repositoryRoot(workspace) !== undefined,
    tellsCost: async (command) => (await agentFor(splitWords(command)[0] ?? "")).reports.includes("cost"),
  };
}

/** Returns the programs that they name and that are not on PATH. */
export function writeSettings(settings: NewSettings, workspace: string): string[] {
  if (existsSync(BASE_FILE) && !statSync(BASE_FILE).isFile())
    throw new RalphError(`${BASE_FILE} is not a plain file`, { code: "not_a_file", hint: "remove it first" });
  requireOwnFolder(workspace);
  prepareRuntimeFolder(workspace);
  const schema = readFileSync(inPackage("schemas/settings.v1.json"), "utf8");
  writeAtomic(join(RUNTIME_FOLDER, SCHEMA_FILE), schema, 0o644);
  writeAtomic(BASE_FILE, `${JSON.stringify(settings, null, 2)}\n`, 0o644);
  const commands = [settings.agent.command, ...settings.checks];
  // Only of a plain word: what else stands first in a line of shell is the shell's business.
  const programs = new Set(commands.flatMap((command) => /^[\w./-]+(?=\s|$)/.exec(command) ?? []));
  return [...programs].filter((program) => which(program, workspace).status !== "found");
}

const ABOUT_CHECKS = `A check is a shell command that ralph runs after every iteration; exit 0 passes.
When one fails, the work is not done: the agent gets its output in the next
prompt, and the run continues until all checks pass or a limit is reached.`;

/** The questions of `ralph init`, one after the other. Writes nothing. */
export async function askSettings(ask: Ask, found: Suggestions): Promise<NewSettings> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const { agents, checks, inRepository } = found;
  if (agents.length > 0) say(`Found on this machine: ${agents.join(", ")}. Any other command works, too.`);
  else say("No known agent found on this machine. Any command that reads a prompt works.");
  const command = await ask("Which agent does the work?", {
    suggestion: agents[0],
    validate: commandProblem,
  });
  const { setup: suggested = "", maxCost, ...defaults } = await defaultSettings(command, found);
  say(ABOUT_CHECKS);
  const known = checks.join("; ") || NONE;
  const wanted = await ask("Which checks must pass? Separate them with ;", { suggestion: known });
  const setup = await ask("Which command installs the dependencies in a new worktree?", {
    suggestion: suggested || NONE,
  });
  const most = { suggestion: String(defaults.maxIterations), validate: countProblem };
  const maxIterations = Number(await ask("Stop after how many iterations?", most));
  const dollars = { suggestion: String(maxCost ?? NONE), validate: dollarsProblem };
  const cost = await ask("Stop after how many US dollars?", dollars);
  const maxTime = await ask("Stop after how long? Such as 90m or 8h", {
    suggestion: MAX_TIME,
    validate: durationProblem,
  });
  const commits = inRepository && isYes(await ask("Commit the work when all checks pass? (y/N)"));
  return {
    ...{
      $schema: defaults.$schema,
      agent: { command },
      checks: isNone(wanted) ? [] : wanted.split(";").flatMap((word) => word.trim() || []),
    },
    ...(!isNone(setup) && { setup }),
    maxIterations,
    ...(!isNone(cost) && { maxCost: Number(cost.replace("$", "")) }),
    ...(!isNone(maxTime) && { maxTime }),
    ...DEFAULT_TEXTS,
    ...(commits && { scm: { command: "git", tasks: ["commit"] } }),
  };
}

function isNone(answer: string): boolean {
  return answer.toLowerCase() === NONE;
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

/** Asks one question and returns the answer, trimmed. Throws `Aborted` on Ctrl+C and at the end of the input. */
export type Ask = (message: string, question?: TextQuestion) => Promise<string>;

interface TextQuestion {
  suggestion?: string | undefined;
  validate?: (answer: string) => string | undefined;
}

/** The user left before the last question. */
export class Aborted extends Error {}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function withTerminal<Result>(dialogue: (ask: Ask) => Promise<Result>): Promise<Result> {
  const { isCancel, text, updateSettings } = await import("@clack/prompts");
  updateSettings({ aliases: { "\u0004": "cancel" } });
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const name of SIGNALS) process.once(name, end);
  process.stdin.setRawMode(true).once("end", end);
  const { input, nextLine } = lineByLine(process.stdin);
  try {
    return await dialogue(async (message, { suggestion = "", validate } = {}) => {
      const problemOf = (given = ""): string | undefined => {
        const problem = validate?.(given.trim() || suggestion);
        if (problem !== undefined) setImmediate(nextLine);
        return problem;
      };
      setImmediate(nextLine);
      const asked = suggestion === "" ? message : `${message} [${suggestion}]`;
      const answer = await text({
        message: asked,
        placeholder: suggestion,
        defaultValue: suggestion,
        validate: problemOf,
        input,
        signal: ending.signal,
      });
      if (isCancel(answer)) throw new Aborted();
      return (answer ?? "").trim() || suggestion;
    });
  } finally {
    for (const name of SIGNALS) process.off(name, end);
    process.stdin.setRawMode(false).destroy();
  }
}

/** Of answers that were pasted ahead, each question gets its own line. */
function lineByLine(keyboard: NodeJS.ReadStream): { input: PassThrough; nextLine(): void } {
  const input = new PassThrough();
  let typed = "";
  let isWanted = false;
  const feed = (): void => {
    if (!isWanted || typed === "") return;
    const end = typed.indexOf("\r") + 1;
    isWanted = end === 0;
    input.write(end === 0 ? typed : typed.slice(0, end));
    typed = end === 0 ? "" : typed.slice(end);
  };
  keyboard.setEncoding("utf8").on("data", (keys: string) => {
    // Enter is `\r` in raw mode, and `\n` in what was typed before that.
    typed += keys.replaceAll("\n", "\r");
    feed();
  });
  const nextLine = (): void => {
    isWanted = true;
    feed();
  };
  return { input, nextLine };
}

function commandProblem(command: string): string | undefined {
  if (command === "") return "A command is needed.";
  try {
    splitWords(command);
    return undefined;
  } catch (error) {
    return error instanceof RalphError ? `${error.message} (${error.hint})` : String(error);
  }
}

function countProblem(answer: string): string | undefined {
  const isCount = /^0*[1-9]\d*$/.test(answer) && Number.isSafeInteger(Number(answer));
  return isCount ? undefined : `Not a positive whole number: ${answer}`;
}

function dollarsProblem(answer: string): string | undefined {
  const isAmount = /^\$?\d+(\.\d+)?$/.test(answer) && Number(answer.replace("$", "")) > 0;
  return isAmount || isNone(answer) ? undefined : `Not an amount such as 2.50, or ${NONE}: ${answer}`;
}

function durationProblem(answer: string): string | undefined {
  const isDuration = (parseDuration(answer) ?? 0) > 0;
  return isDuration || isNone(answer) ? undefined : `Not a duration such as 90m or 8h, or ${NONE}: ${answer}`;
}

/** What a project may hold that says what is to be done, in the order in which it is read. */
const NOTES = ["README.md", "AGENTS.md", "CLAUDE.md", "specs/README.md"];
const PLAN = "IMPLEMENTATION_PLAN.md";

/** The prompt of `ralph init --prompt`. It names only files that are there, and says how the run ends. */
export function firstPrompt(workspace: string, response: string): string {
  const isThere = (name: string): boolean => existsSync(join(workspace, name));
  const notes = NOTES.filter(isThere);
  const tests = testCommand(workspace);
  const state =
    repositoryRoot(workspace) !== undefined
      ? "read the last commits to see what is done"
      : "look at what is done";
  return `study ${notes.length === 0 ? "this project" : notes.join(", ")}
${state}, then pick the most important incomplete task

IMPORTANT:

- do not assume anything is implemented - verify by reading code
- do that one task alone
${isThere(PLAN) ? `- update ${PLAN} when the task is done\n` : ""}\
- if tests are missing, add them (choose unit/integration/property as appropriate, follow existing patterns)
- run ${tests === undefined ? "the tests" : `\`${tests}\``} after changes
- commit when the task is done, and say in the message what is left; do not push

When no task is left and the tests pass, end your final message with this line, and not before:

<response>${response}</response>
`;
}
