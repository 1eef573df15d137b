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

/** The user left before the last question. */
export class Aborted extends Error {}

/** The questions of `ralph init`, one after the other. Writes nothing. */
export async function askSettings({ agents, guardrails }: Suggestions): Promise<NewSettings> {
  if (agents.length > 0) process.stdout.write(`Found on this machine: ${agents.join(", ")}\n`);
  else
    process.stdout.write(
      "No known agent was found on this machine; any command that reads a prompt will do.\n",
    );
  const agent = "Agent command (e.g., claude, codex, amp, or other LLM CLI)";
  const settings = defaultSettings(
    await askText(agent, { suggestion: agents[0], validate: commandProblem }),
    [],
  );
  settings.agent.flags = listOf(await askText("Agent flags (comma-separated, optional)"));
  const { maximumIterations: iterations, completionResponse: response } = DEFAULTS;
  const most = { suggestion: String(iterations), validate: countProblem };
  settings.maximumIterations = Number(await askText(`Maximum iterations [${iterations}]`, most));
  settings.completionResponse = await askText(`Completion response [${response}]`, { suggestion: response });
  if (guardrails.length > 0) process.stdout.write(`Found in this project: ${guardrails.join(", ")}\n`);
  for (;;) {
    const left = guardrails.filter((text) => !settings.guardrails.some(({ command }) => command === text));
    const command = await askText("Add guardrail command (leave blank to finish)", { hint: left[0] });
    if (command === "") break;
    const failAction = await askFailAction();
    const hint = await askText("Hint (optional, guidance for agent on failure)");
    settings.guardrails.push({ command, failAction, ...(hint !== "" && { hint }) });
  }
  if (!(await askYesOrNo("Configure SCM? (y/N)"))) return settings;
  const command = await askText("SCM command (e.g., git)", { hint: "git", validate: commandProblem });
  const tasks = await askText("SCM tasks (comma-separated, e.g., commit,push)", { hint: "commit" });
  return { ...settings, scm: { command, tasks: listOf(tasks) } };
}

export function askYesOrNo(message: string): Promise<boolean> {
  return ask<boolean>(({ confirm }, signal) => confirm({ message, initialValue: false, signal }));
}

interface TextQuestion {
  /** What an empty answer stands for. */
  suggestion?: string | undefined;
  /** An example, shown while the answer is empty. */
  hint?: string | undefined;
  validate?: (answer: string) => string | undefined;
}

async function askText(message: string, { suggestion, hint, validate }: TextQuestion = {}): Promise<string> {
  const answer = await ask<string | undefined>(({ text }, signal) =>
    text({
      message,
      signal,
      placeholder: suggestion ?? hint ?? "",
      validate: (given = "") => validate?.(given.trim() || (suggestion ?? "")),
    }),
  );
  return answer?.trim() || (suggestion ?? "");
}

function askFailAction(): Promise<FailAction> {
  const message = "Fail action (APPEND|PREPEND|REPLACE)";
  const options: { value: FailAction; hint: string }[] = [
    { value: "APPEND", hint: "after the prompt" },
    { value: "PREPEND", hint: "before it" },
    { value: "REPLACE", hint: "in its place" },
  ];
  return ask<FailAction>(({ select }, signal) => select<FailAction>({ message, options, signal }));
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type Clack = typeof import("@clack/prompts");

/** Throws `Aborted` on Ctrl+C, at the end of the input, and when the process is told to end. */
async function ask<Answer>(
  prompt: (clack: Clack, signal: AbortSignal) => Promise<Answer | symbol>,
): Promise<Answer> {
  const clack = await import("@clack/prompts");
  clack.updateSettings({ aliases: { "\u0004": "cancel" } });
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const name of SIGNALS) process.once(name, end);
  try {
    const answer = await prompt(clack, ending.signal);
    if (clack.isCancel(answer)) throw new Aborted();
    return answer as Answer;
  } finally {
    for (const name of SIGNALS) process.off(name, end);
  }
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
