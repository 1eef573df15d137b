import { isatty } from "node:tty";
import { RalphError } from "../errors.js";
import { answerHook } from "../hooks/answer.js";
import { HOOK_NAMES, isHookName } from "../hooks/registry.js";

export interface HookFlags {
  /** Where the loop that started the agent answers. */
  loop?: string;
}

/** `ralph hook NAME`: what an agent sends comes in on stdin, what it is told goes out on stdout. */
export async function hook(name: string, { loop }: HookFlags): Promise<number> {
  if (!isHookName(name)) throw unknownHook(name);
  if (isatty(0)) process.stderr.write("ralph: a hook reads JSON from stdin; Ctrl+D ends it\n");
  const note = (text: string): void => void process.stderr.write(`ralph: ${text}\n`);
  const answer = await answerHook(name, loop, { env: process.env, note });
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  return 0;
}

/** The words of a call as agents make it. */
export function usualCall(words: string[]): ({ name: string } & HookFlags) | undefined {
  const [name = "", flag, loop] = words;
  if (!isHookName(name)) return undefined;
  if (words.length === 1) return { name };
  return flag === "--loop" && loop !== undefined && words.length === 3 ? { name, loop } : undefined;
}

function unknownHook(name: string): RalphError {
  return new RalphError(`unknown hook ${name}: expected ${HOOK_NAMES.join(", ")}`, { code: "hook_unknown" });
}
