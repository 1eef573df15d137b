import type { AgentCommand, LoopHook, LoopHooks } from "./agent.js";
import { withoutFlag } from "./flags.js";

export const SETTINGS_FLAG = "--settings";

/** The flags with the loop's hooks in them. Settings of the user's own stay in force beside them. */
export function withHooks(
  own: string[],
  wiring: LoopHooks | undefined,
): Pick<AgentCommand, "args" | "env" | "files"> {
  if (wiring === undefined) return { args: own };
  const { settings, env } = wiring;
  const text = JSON.stringify(merged(settings?.content ?? {}, wiring));
  if (settings === undefined) return { args: [SETTINGS_FLAG, text, ...own], env };
  const args = [SETTINGS_FLAG, settings.file, ...withoutFlag(own, [SETTINGS_FLAG])];
  return { args, env, files: { [settings.file]: text } };
}

/** Every matching hook is asked, so that ours may stand after the user's. */
function merged(
  content: Record<string, unknown>,
  { hooks, tokenVariable }: LoopHooks,
): Record<string, unknown> {
  const all: Record<string, unknown> = Object.assign({}, content["hooks"]);
  for (const hook of hooks) {
    const before: unknown = all[hook.event];
    all[hook.event] = [...(Array.isArray(before) ? before : []), group(hook, tokenVariable)];
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
