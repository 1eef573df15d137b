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
  if (process.stdin.isTTY) process.stderr.write("ralph: a hook reads JSON from stdin; Ctrl+D ends it\n");
  const note = (text: string): void => void process.stderr.write(`ralph: ${text}\n`);
  const answer = await answerHook(name, loop, { env: process.env, note });
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  return 0;
}

function unknownHook(name: string): RalphError {
  return new RalphError(`unknown hook ${name}: expected ${HOOK_NAMES.join(", ")}`, { code: "hook_unknown" });
}
