import type { Hook, HookAnswer } from "./hook.cjs";
import { isObject, TOKEN_VARIABLE } from "./hook.cjs";

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

const MAX_ANSWER_BYTES = 1024 * 1024;

/** Hands what an agent sent over to the loop that started it. An empty object is nothing to say. */
export async function askLoop(url: string, sent: unknown, env: NodeJS.ProcessEnv): Promise<HookAnswer> {
  const { request } = await import("node:http");
  const authorization = `Bearer ${env[TOKEN_VARIABLE] ?? ""}`;
  const headers = { authorization, "content-type": "application/json" };
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(url, { method: "POST", headers }, (response) => {
      let heard = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        heard += piece;
        if (heard.length > MAX_ANSWER_BYTES) asked.destroy(new Error("its answer is too long"));
      });
      response.on("end", () => {
        if (response.statusCode === 200) resolve(heard);
        else reject(new Error(`it answered ${response.statusCode}`));
      });
    });
    asked.on("error", reject);
    asked.end(JSON.stringify(sent));
  });
  const answer: unknown = JSON.parse(text);
  return isObject(answer) && Object.keys(answer).length > 0 ? answer : undefined;
}
