import { RalphError } from "../../errors.js";
import { DEFAULTS } from "../../settings/limits.js";
import type { FailAction } from "../../settings/schema.js";
import { splitWords } from "../../words.js";
import type { Ask } from "./ask.js";

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

export type Say = (line: string) => void;

/** The settings that nobody had to be asked for. */
export function defaultSettings(agent: string, guardrails: string[]): NewSettings {
  const { guardrails: _, ...defaults } = DEFAULTS;
  return {
    ...defaults,
    agent: { command: agent, flags: [] },
    guardrails: guardrails.map((command) => ({ command, failAction: "APPEND" })),
  };
}

/** The questions of `ralph init`, one after the other. Writes nothing. */
export async function askSettings(ask: Ask, say: Say, found: Suggestions): Promise<NewSettings> {
  if (found.agents.length > 0) say(`Found on this machine: ${found.agents.join(", ")} (Tab fills in)`);
  else say("No known agent was found on this machine; any command that reads a prompt will do.");
  const command = await askCommand(
    ask,
    say,
    "Agent command (e.g., claude, codex, amp, or other LLM CLI): ",
    found.agents,
  );
  const flags = listOf(await ask("Agent flags (comma-separated, optional): "));
  const settings = defaultSettings(command, []);
  settings.agent.flags = flags;
  settings.maximumIterations = await askIterations(ask, say);
  settings.completionResponse =
    (await ask(`Completion response [${DEFAULTS.completionResponse}]: `)) || DEFAULTS.completionResponse;
  settings.guardrails = await askGuardrails(ask, say, found.guardrails);
  const scm = await askScm(ask, say);
  return scm === undefined ? settings : { ...settings, scm };
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

async function askCommand(ask: Ask, say: Say, question: string, suggestions: string[] = []): Promise<string> {
  for (;;) {
    const answer = await ask(question, suggestions);
    const problem = answer === "" ? "A command is needed." : problemOf(answer);
    if (problem === undefined) return answer;
    say(problem);
  }
}

function problemOf(command: string): string | undefined {
  try {
    splitWords(command);
    return undefined;
  } catch (error) {
    if (error instanceof RalphError) return `${error.message} (${error.hint})`;
    throw error;
  }
}

async function askIterations(ask: Ask, say: Say): Promise<number> {
  for (;;) {
    const answer = await ask(`Maximum iterations [${DEFAULTS.maximumIterations}]: `);
    if (answer === "") return DEFAULTS.maximumIterations;
    const number = /^\d+$/.test(answer) ? Number(answer) : 0;
    if (Number.isSafeInteger(number) && number > 0) return number;
    say(`Not a positive whole number: ${answer}`);
  }
}

async function askGuardrails(ask: Ask, say: Say, suggestions: string[]): Promise<NewSettings["guardrails"]> {
  if (suggestions.length > 0) say(`Found in this project: ${suggestions.join(", ")} (Tab fills in)`);
  const guardrails: NewSettings["guardrails"] = [];
  for (;;) {
    const left = suggestions.filter((text) => !guardrails.some(({ command }) => command === text));
    const command = await ask("Add guardrail command (leave blank to finish): ", left);
    if (command === "") return guardrails;
    const failAction = await askFailAction(ask, say);
    const hint = await ask("  Hint (optional, guidance for agent on failure): ");
    guardrails.push({ command, failAction, ...(hint !== "" && { hint }) });
  }
}

const FAIL_ACTIONS: FailAction[] = ["APPEND", "PREPEND", "REPLACE"];

async function askFailAction(ask: Ask, say: Say): Promise<FailAction> {
  for (;;) {
    const answer = (await ask("  Fail action (APPEND|PREPEND|REPLACE): ", FAIL_ACTIONS)).toUpperCase();
    const action = FAIL_ACTIONS.find((name) => name === answer);
    if (action !== undefined) return action;
    say("  One of APPEND (after the prompt), PREPEND (before it), REPLACE (in its place).");
  }
}

async function askScm(ask: Ask, say: Say): Promise<NewSettings["scm"]> {
  if (!isYes(await ask("Configure SCM? (y/N): "))) return undefined;
  const command = await askCommand(ask, say, "  SCM command (e.g., git): ", ["git"]);
  const tasks = listOf(
    await ask("  SCM tasks (comma-separated, e.g., commit,push): ", ["commit", "commit,push"]),
  );
  return { command, tasks };
}

function listOf(answer: string): string[] {
  return answer
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
