import { PassThrough } from "node:stream";
import { RalphError } from "../errors.js";
import { DEFAULTS } from "../settings/limits.js";
import type { FailAction } from "../settings/schema.js";
import { splitWords } from "../words.js";

/** What `ralph init` writes, in the order in which it is written. */
export interface NewSettings {
  maximumIterations: number;
  completionResponse: string;
  outputTruncateChars: number;
  streamAgentOutput: boolean;
  includeIterationCountInPrompt: boolean;
  agent: { command: string; flags: string[] };
  guardrails: { command: string; failAction: FailAction; hint?: string }[];
  scm?: { command: string; tasks: string[] };
}

/** What was found on this machine and in this project. */
export interface Suggestions {
  agents: string[];
  guardrails: string[];
}

/** The settings where no question is asked. */
export function defaultSettings(agent: string, guardrails: string[]): NewSettings {
  const { guardrails: _, ...defaults } = DEFAULTS;
  return {
    ...defaults,
    agent: { command: agent, flags: [] },
    guardrails: guardrails.map((command) => ({ command, failAction: "APPEND" })),
  };
}

/** The questions of `ralph init`, one after the other. Writes nothing. */
export async function askSettings(ask: Ask, { agents, guardrails }: Suggestions): Promise<NewSettings> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (agents.length > 0) say(`Found on this machine: ${agents.join(", ")}`);
  else say("No known agent was found on this machine; any command that reads a prompt will do.");
  const agent = "Agent command (e.g., claude, codex, amp, or other LLM CLI)";
  const command = await ask(agent, { suggestion: agents[0], validate: commandProblem });
  const settings = defaultSettings(command, []);
  settings.agent.flags = listOf(await ask("Agent flags (comma-separated, optional)"));
  const { maximumIterations: iterations, completionResponse: response } = DEFAULTS;
  const most = { suggestion: String(iterations), validate: countProblem };
  settings.maximumIterations = Number(await ask(`Maximum iterations [${iterations}]`, most));
  settings.completionResponse = await ask(`Completion response [${response}]`, { suggestion: response });
  if (guardrails.length > 0) say(`Found in this project: ${guardrails.join(", ")}`);
  for (;;) {
    const left = guardrails.filter((text) => !settings.guardrails.some(({ command }) => command === text));
    const command = await ask("Add guardrail command (leave blank to finish)", { example: left[0] });
    if (command === "") break;
    const action = await ask(`  Fail action (${FAIL_ACTIONS.join("|")})`, { validate: actionProblem });
    const hint = await ask("  Hint (optional, guidance for agent on failure)");
    const failAction = action.toUpperCase() as FailAction;
    settings.guardrails.push({ command, failAction, ...(hint !== "" && { hint }) });
  }
  if (!isYes(await ask("Configure SCM? (y/N)"))) return settings;
  const scm = await ask("  SCM command (e.g., git)", { validate: commandProblem });
  const tasks = await ask("  SCM tasks (comma-separated, e.g., commit,push)");
  return { ...settings, scm: { command: scm, tasks: listOf(tasks) } };
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

/** Asks one question and returns the answer, trimmed. Throws `Aborted` on Ctrl+C and at the end of the input. */
export type Ask = (message: string, question?: TextQuestion) => Promise<string>;

interface TextQuestion {
  /** What an empty answer stands for. */
  suggestion?: string | undefined;
  /** Shown while the answer is empty. */
  example?: string | undefined;
  /** Why this cannot be the answer. */
  validate?: (answer: string) => string | undefined;
}

/** The user left before the last question. */
export class Aborted extends Error {}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a dialogue on the terminal. */
export async function withTerminal<Result>(dialogue: (ask: Ask) => Promise<Result>): Promise<Result> {
  const { isCancel, text, updateSettings } = await import("@clack/prompts");
  updateSettings({ aliases: { "\u0004": "cancel" } });
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const name of SIGNALS) process.once(name, end);
  process.stdin.setRawMode(true).once("end", end);
  const { input, nextLine } = lineByLine(process.stdin);
  try {
    return await dialogue(async (message, { suggestion = "", example = "", validate } = {}) => {
      const problemOf = (given = ""): string | undefined => {
        const problem = validate?.(given.trim() || suggestion);
        if (problem !== undefined) setImmediate(nextLine);
        return problem;
      };
      setImmediate(nextLine);
      const placeholder = suggestion || example;
      const answer = await text({ message, placeholder, validate: problemOf, input, signal: ending.signal });
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

const FAIL_ACTIONS: FailAction[] = ["APPEND", "PREPEND", "REPLACE"];

function actionProblem(answer: string): string | undefined {
  if (FAIL_ACTIONS.some((name) => name === answer.toUpperCase())) return undefined;
  return "One of APPEND (after the prompt), PREPEND (before it), REPLACE (in its place).";
}

function commandProblem(command: string): string | undefined {
  if (command === "") return "A command is needed.";
  try {
    splitWords(command);
    return undefined;
  } catch (error) {
    if (error instanceof RalphError) return `${error.message} (${error.hint})`;
    throw error;
  }
}

function countProblem(answer: string): string | undefined {
  const isCount = /^\d+$/.test(answer) && Number(answer) > 0 && Number.isSafeInteger(Number(answer));
  return isCount ? undefined : `Not a positive whole number: ${answer}`;
}

function listOf(answer: string): string[] {
  return answer
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
