import type { AgentCommand } from "./agent.js";
import { isGiven, withoutFlag } from "./flags.js";
import type { LoopHook, LoopHooks } from "./hooks.js";

const SETTINGS_FLAGS = ["--settings"];

/** The flags with the loop's hooks in them. Settings of the user's own stay in force beside them. */
export function withHooks(
  own: string[],
  wiring: LoopHooks | undefined,
): Pick<AgentCommand, "args" | "env" | "files"> {
  if (wiring === undefined) return { args: own };
  const { settings, token } = wiring;
  const env = { [token.variable]: token.value };
  const text = JSON.stringify(merged(settings?.content ?? {}, wiring));
  if (settings === undefined) return { args: [...SETTINGS_FLAGS, text, ...own], env };
  const args = [...SETTINGS_FLAGS, settings.file, ...withoutFlag(own, SETTINGS_FLAGS)];
  return { args, env, files: { [settings.file]: text } };
}

/** Every matching hook is asked, so that ours may stand after the user's. */
function merged(content: Record<string, unknown>, { hooks, token }: LoopHooks): Record<string, unknown> {
  const all: Record<string, unknown> = isObject(content["hooks"]) ? { ...content["hooks"] } : {};
  for (const hook of hooks) {
    const before: unknown = all[hook.event];
    all[hook.event] = [...(Array.isArray(before) ? before : []), group(hook, token.variable)];
  }
  return { ...content, hooks: all };
}

function group({ event, url, timeoutSeconds }: LoopHook, variable: string): Record<string, unknown> {
  const hook = {
    type: "http",
    url,
    timeout: timeoutSeconds,
    headers: { Authorization: `Bearer \${${variable}}` },
    allowedEnvVars: [variable],
  };
  return { ...(event !== "Stop" && { matcher: ".*" }), hooks: [hook] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function givesSettings(own: string[]): boolean {
  return isGiven(own, SETTINGS_FLAGS);
}
