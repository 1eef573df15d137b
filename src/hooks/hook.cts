/** What an agent tells a hook, in the words of Claude Code and Codex, as far as ralph looks at it. */
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
  /** Tells the user; the agent does not hear it. */
  note(text: string): void;
}

/** What the agent gets as JSON; undefined: nothing to say. */
export type HookAnswer = Record<string, unknown> | undefined;

/** Answers one event. What it throws is noted and lets the agent go on: a hook must not break a session. */
export type Hook = (input: HookInput, context: HookContext) => Promise<HookAnswer>;

/** What a hook reads at the most: results of tools are part of it. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/** Has the word that the loop's hook server wants to hear; set for every agent whose hooks it answers. */
export const TOKEN_VARIABLE = "RALPH_HOOK_TOKEN";

/** The loop answers itself: whoever says the same makes the agent hear everything twice. */
export function isAnsweredByLoop(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env[TOKEN_VARIABLE]);
}

/** undefined: no object in JSON. */
export function readInput(text: string): HookInput | undefined {
  const sent = parsed(text);
  if (sent === undefined) return undefined;
  return {
    session: textOf(sent["session_id"]),
    cwd: textOf(sent["cwd"]),
    transcript: textOf(sent["transcript_path"]),
    triesAgain: sent["stop_hook_active"] === true,
    sent,
  };
}

/** Keeps the agent at work; the reason is what it hears. */
export function block(reason: string): HookAnswer {
  return { decision: "block", reason };
}

/** Holds back what the agent wants to do. */
export function deny(reason: string): HookAnswer {
  const permissionDecisionReason = reason;
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason,
    },
  };
}

/** What a hook says to more than it reads. */
export function answerToTooMuch(name: string): HookAnswer {
  const size = `${MAX_INPUT_BYTES / 1024 / 1024} MB`;
  return answerUnread(name, `it is more than ${size}, and nobody can judge it. Do it in smaller steps.`);
}

/** What the guard has not seen must not be done; the other hooks let the agent go on. */
export function answerUnread(name: string, why: string): HookAnswer {
  return name === "pre-tool-use" ? deny(`Refused by ralph's guard: ${why}`) : undefined;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
