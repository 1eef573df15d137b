import type { Agent } from "./agent.js";
import { modelFlag } from "./flags.js";

export interface TalkOptions {
  words: string[];
  flags: string[];
  model: string | undefined;
  /** What the conversation begins with. */
  message: string;
}

/** How each agent takes the first message of a conversation; undefined: it has to be typed. */
const FIRST_MESSAGE: Record<Agent["name"], ((message: string) => string[]) | undefined> = {
  claude: (message) => [message],
  codex: (message) => [message],
  gemini: (message) => ["--prompt-interactive", message],
  opencode: (message) => ["--prompt", message],
  amp: undefined,
  command: (message) => [message],
};

/** The words that start an agent for a conversation with the user. */
export function talkWords(name: Agent["name"], { words, flags, model, message }: TalkOptions): string[] {
  const all = [...words, ...flags];
  const isPlaced = all.some((word) => word.includes("{prompt}"));
  if (isPlaced) return all.map((word) => word.replaceAll("{prompt}", () => message));

  return [...all, ...modelFlag(flags, model), ...(FIRST_MESSAGE[name]?.(message) ?? [])];
}

export function takesFirstMessage(name: Agent["name"]): boolean {
  return FIRST_MESSAGE[name] !== undefined;
}
