import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { answerHook } from "../hooks/answer.cjs";
import { type Hook, type HookAnswer, isObject, TOKEN_VARIABLE } from "../hooks/hook.cjs";
import { didYouMean } from "../words.js";
import { failure } from "./output.js";

/** Every hook, loaded when it is called. */
const HOOKS: Record<string, () => Promise<Hook>> = {
  stop: async () => (await import("../hooks/stop.js")).stop,
  context: async () => (await import("../hooks/context.cjs")).context,
  "pre-tool-use": async () => (await import("../hooks/guard-call.js")).preToolUse,
  "session-start": async () => (await import("../hooks/context.cjs")).sessionStart,
};
export const HOOK_NAMES = Object.keys(HOOKS);
const EXPECTED = `expected ${HOOK_NAMES.join(", ")}`;

/** `ralph hook NAME`: answers itself, or hands over to the loop that started the agent and answers at `loop`. */
export async function hook(name: string | undefined, { loop }: { loop?: string }): Promise<number> {
  if (name === undefined)
    throw failure("hook_missing", `no hook was given: ${EXPECTED}`, "ralph hook --help");
  const load = Object.hasOwn(HOOKS, name) ? HOOKS[name] : undefined;
  if (load === undefined)
    throw failure("hook_unknown", `unknown hook ${name}: ${EXPECTED}`, didYouMean(name, HOOK_NAMES));
  if (loop === undefined) await answerHook(name, await load());
  else {
    // Only a loop on this machine may get what agents send.
    if (!/^http:\/\/127\.0\.0\.1:\d+\//.test(loop))
      throw failure(
        "address_invalid",
        `--loop ${loop}: expected an address such as http://127.0.0.1:4000/stop`,
      );
    await answerHook(name, ({ sent }, { env }) => askLoop(loop, sent, env));
  }
  return 0;
}

/** Passes an agent's input to the loop that started it. An empty object means no answer. */
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
