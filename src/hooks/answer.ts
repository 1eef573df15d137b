import { type HookAnswer, type HookContext, MAX_INPUT_BYTES, readInput } from "./hook.js";
import { HOOKS, type HookName } from "./registry.js";
import { readStdin } from "./stdin.js";

/**
 * Answers an agent that runs `ralph hook NAME`. Whatever is wrong is noted and nothing is said: a hook must
 * not break the session that it looks at. `loop` is where the loop answers, if one has started the agent.
 */
export async function answerHook(
  name: HookName,
  loop: string | undefined,
  context: HookContext,
): Promise<HookAnswer> {
  try {
    return await answer(name, loop, context);
  } catch (error) {
    context.note(`hook ${name}: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

async function answer(name: HookName, loop: string | undefined, context: HookContext): Promise<HookAnswer> {
  const text = await readStdin(MAX_INPUT_BYTES);
  if (text === undefined) throw new Error(`more than ${MAX_INPUT_BYTES / 1024 / 1024} MB on stdin`);
  const input = readInput(text);
  if (input === undefined) throw new Error("expected a JSON object on stdin, as agents send it");
  if (loop !== undefined) {
    const { askLoop } = await import("./ask-loop.js");
    return askLoop(loop, input.sent, context.env);
  }
  const hook = await HOOKS[name]();
  return hook(input, context);
}
