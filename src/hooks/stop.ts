import { findActive } from "./active.js";
import { block, type Hook, type HookContext, type HookInput, isAnsweredByLoop } from "./hook.cjs";

/**
 * When the agent wants to stop in a folder where a loop over stories is at work. Without a loop to ask, what the
 * loop wrote into the folder has to do: it can keep an agent at work, and it proves nothing.
 */
export const stop: Hook = async (input, context) => {
  if (isAnsweredByLoop(context.env)) return undefined;
  const workspace = activeWorkspace(input, context.env);
  if (workspace === undefined) return undefined;
  const reasons = await reasonsToGoOn(workspace, context);
  if (reasons.length === 0) return undefined;
  if (await mayBlock(input, context)) return block(reasons.join("\n\n"));
  context.note(`hook stop: the agent was kept ${MAX_BLOCKS} times; let go with: ${reasons.join(" ")}`);
  return undefined;
};

/** Claude Code names the project beside the folder that the agent has gone to. */
function activeWorkspace({ cwd }: HookInput, { CLAUDE_PROJECT_DIR }: NodeJS.ProcessEnv): string | undefined {
  const found = findActive(cwd ?? process.cwd());
  return found === undefined && CLAUDE_PROJECT_DIR ? findActive(CLAUDE_PROJECT_DIR) : found;
}

async function reasonsToGoOn(workspace: string, { note }: HookContext): Promise<string[]> {
  const { checkCommitted, checkTasks, NO_SNAPSHOT } = await import("../recipes/stories/rules.js");
  const { readActive } = await import("../recipes/stories/active.js");
  const { uncommittedFiles } = await import("../workspace/uncommitted.js");
  const { tasks, rules } = readActive(workspace);
  if (rules.before === undefined && !rules.skipReview) note(`hook stop: ${NO_SNAPSHOT}`);
  const { findings } = checkTasks(tasks, rules);
  const uncommitted = checkCommitted(await uncommittedFiles(workspace));
  return [...findings, ...uncommitted].map(({ message }) => message);
}

/** Times that one stop is refused: an agent that can't do what it is told must not go round forever. */
const MAX_BLOCKS = 5;

/** Where nobody can count, it is told once. */
async function mayBlock({ session, triesAgain }: HookInput, { env }: HookContext): Promise<boolean> {
  if (session === undefined) return !triesAgain;
  const { openSession } = await import("./session.cjs");
  try {
    const blocks = openSession("stop", session, env);
    if (!triesAgain) blocks.forget();
    const count = blocks.marks().length;
    return count < MAX_BLOCKS && blocks.set(String(count + 1));
  } catch {
    return !triesAgain;
  }
}
