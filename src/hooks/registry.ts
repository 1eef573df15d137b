import type { Hook } from "./hook.cjs";

/** Every hook, as `ralph hook NAME`. One is loaded when it is called. */
export const HOOKS = {
  stop: async () => (await import("./stop.js")).stop,
  context: async () => (await import("./context.cjs")).context,
  "pre-tool-use": async () => (await import("./pre-tool-use.js")).preToolUse,
  "session-start": async () => (await import("./session-start.js")).sessionStart,
} satisfies Record<string, () => Promise<Hook>>;

export type HookName = keyof typeof HOOKS;

export const HOOK_NAMES = Object.keys(HOOKS) as HookName[];

export function isHookName(name: string): name is HookName {
  return Object.hasOwn(HOOKS, name);
}
