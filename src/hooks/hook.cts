/** The input of a hook, as Claude Code and Codex send it, as far as ralph uses it. */
export interface HookInput {
  session: string | undefined;
  cwd: string | undefined;
  /** The file with the session's transcript. */
  transcript: string | undefined;
  /** A hook has already kept it from stopping, and it tries again. */
  triesAgain: boolean;
  /** The whole input, unchanged. */
  sent: Record<string, unknown>;
}

export interface HookContext {
  env: NodeJS.ProcessEnv;
  /** A message for the user; the agent does not see it. */
  note(text: string): void;
}

/** The JSON that the agent gets; undefined: nothing to say. */
export type HookAnswer = Record<string, unknown> | undefined;

/** Answers one event. An exception is noted and lets the agent continue: a hook must not break a session. */
export type Hook = (input: HookInput, context: HookContext) => Promise<HookAnswer>;

/** The largest input that a hook reads; it includes results of tools. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/** Holds the token of the loop's hook server, for every agent whose hooks the loop answers. */
export const TOKEN_VARIABLE = "RALPH_HOOK_TOKEN";

/** The loop answers itself: with a second answer the agent would see everything twice. */
export function isAnsweredByLoop(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env[TOKEN_VARIABLE]);
}

/** undefined: not a JSON object. */
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

/** undefined: not a JSON object. */
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

/** How often a hook blocks one stop, so that an agent that cannot comply does not loop forever. */
export const MAX_BLOCKS = 5;

/** Keeps the agent working, and tells it the reason. */
export function block(reason: string): HookAnswer {
  return { decision: "block", reason };
}

export function deny(permissionDecisionReason: string): HookAnswer {
  const permissionDecision = "deny";
  return {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason },
  };
}

/** The guard refuses what it cannot read; the other hooks let the agent continue. */
export function answerUnread(name: string, why: string): HookAnswer {
  return name === "pre-tool-use" ? deny(`Refused by ralph's guard: ${why}`) : undefined;
}

export function answerToTooMuch(name: string): HookAnswer {
  const size = `${MAX_INPUT_BYTES / 1024 / 1024} MB`;
  return answerUnread(name, `it is more than ${size}, and nobody can judge it. Do it in smaller steps.`);
}
