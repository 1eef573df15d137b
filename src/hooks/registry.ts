import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type Hook, type HookAnswer, isObject, TOKEN_VARIABLE } from "./hook.cjs";

/** Every hook, as `ralph hook NAME`. One is loaded when it is called. */
export const HOOKS = {
  stop: async () => (await import("./stop.js")).stop,
  context: async () => (await import("./context.cjs")).context,
  "pre-tool-use": async () => (await import("./guard-call.js")).preToolUse,
  "session-start": async () => (await import("./context.cjs")).sessionStart,
} satisfies Record<string, () => Promise<Hook>>;

export type HookName = keyof typeof HOOKS;

export const HOOK_NAMES = Object.keys(HOOKS) as HookName[];

export function isHookName(name: string): name is HookName {
  return Object.hasOwn(HOOKS, name);
}

/** Hands what an agent sent over to the loop that started it. An empty object is nothing to say. */
export async function askLoop(url: string, sent: unknown, env: NodeJS.ProcessEnv): Promise<HookAnswer> {
  const { request } = await import("node:http");
  const authorization = `Bearer ${env[TOKEN_VARIABLE] ?? ""}`;
  const headers = { authorization, "content-type": "application/json" };
  const asked = request(url, { method: "POST", headers });
  asked.end(JSON.stringify(sent));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const answer: unknown = JSON.parse(await text(response));
  if (response.statusCode !== 200) throw new Error(`it answered ${response.statusCode}`);
  return isObject(answer) && Object.keys(answer).length > 0 ? answer : undefined;
}
