/** What an agent sends to a hook, in the words of Claude Code and Codex, as far as ralph uses it. */
export interface HookInput {
  session: string | undefined;
  cwd: string | undefined;
  /** The file with all that was said in the session so far. */
  transcript: string | undefined;
  /** It was already kept from stopping, and tries again. */
  triesAgain: boolean;
  /** All of it, as it was sent. */
  sent: Record<string, unknown>;
}

export interface HookContext {
  env: NodeJS.ProcessEnv;
  /** A message for the user; the agent does not hear it. */
  note(text: string): void;
}

/** What the agent gets as JSON; undefined: nothing to say. */
export type HookAnswer = Record<string, unknown> | undefined;

/** Answers one event. What it throws is noted and lets the agent go on: a hook must not break a session. */
export type Hook = (input: HookInput, context: HookContext) => Promise<HookAnswer>;

/** The most that a hook reads: results of tools are part of it. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/** Holds the token of the loop's hook server; set for every agent whose hooks the loop answers. */
export const TOKEN_VARIABLE = "RALPH_HOOK_TOKEN";

/** The loop answers itself: a second answer would make the agent hear everything twice. */
export function isAnsweredByLoop(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env[TOKEN_VARIABLE]);
}

/** undefined: no object in JSON. */
export function readInput(text: string): HookInput | undefined {
  const sent = parseObject(text.startsWith("\uFEFF") ? text.slice(1) : text);
  if (sent === undefined) return undefined;
  const textOf = (name: string): string | undefined => {
    const value = sent[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return {
    session: textOf("session_id"),
    cwd: textOf("cwd"),
    transcript: textOf("transcript_path"),
    triesAgain: sent["stop_hook_active"] === true,
    sent,
  };
}

/** undefined: it is no JSON, or no object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How often one stop is refused: an agent that cannot do what it hears must not go round forever. */
export const MAX_BLOCKS = 5;

/** Keeps the agent at work; the reason is what it hears. */
export function block(reason: string): HookAnswer {
  return { decision: "block", reason };
}

/** Holds back what the agent wants to do. */
export function deny(permissionDecisionReason: string): HookAnswer {
  const permissionDecision = "deny";
  return {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason },
  };
}

/** What the guard cannot judge must not be done; the other hooks let the agent go on. */
export function answerUnread(name: string, why: string): HookAnswer {
  return name === "pre-tool-use" ? deny(`Refused by ralph's guard: ${why}`) : undefined;
}

export function answerToTooMuch(name: string): HookAnswer {
  const size = `${MAX_INPUT_BYTES / 1024 / 1024} MB`;
  return answerUnread(name, `it is more than ${size}, and nobody can judge it. Do it in smaller steps.`);
}
