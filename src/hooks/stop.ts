import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { orElse, systemErrorCode } from "../errors.js";
import { textAt } from "../workspace/content.js";
import { ACTIVE_FILE } from "../workspace/runtime.js";
import { openSession } from "./context.cjs";
import type { HookInput } from "./hook.cjs";
import { block, type Hook, type HookContext, isAnsweredByLoop, MAX_BLOCKS, parseObject } from "./hook.cjs";

/** For an agent in a folder of stories. Without a loop to ask, it relies on files, and proves nothing. */
export const stop: Hook = async (input, context) => {
  if (isAnsweredByLoop(context.env)) return undefined;
  // Claude Code names the project, even after the agent has changed its folder.
  const { CLAUDE_PROJECT_DIR: project } = context.env;
  const workspace = findActive(input.cwd ?? process.cwd()) ?? (project && findActive(project));
  if (!workspace) return undefined;
  const reasons = await reasonsToGoOn(workspace, context);
  if (reasons.length === 0) return undefined;
  if (await mayBlock(input, context)) return block(reasons.join("\n\n"));
  context.note(`hook stop: the agent was kept ${MAX_BLOCKS} times; let go with: ${reasons.join(" ")}`);
  return undefined;
};

/** The folder with `.ralph-active`: this one, or one above it in the same repository. */
function findActive(folder: string): string | undefined {
  // In a sandbox, a folder of that name only reserves the name.
  if (statSync(join(folder, ACTIVE_FILE), { throwIfNoEntry: false })?.isFile())
    return isLeftBehind(folder) ? undefined : folder;
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, ".git")) ? undefined : findActive(above);
}

/** The loop that wrote it is gone: killed, or lost in a reboot. */
function isLeftBehind(folder: string): boolean {
  const pid = Number(parseObject(textAt(join(folder, ACTIVE_FILE)) ?? "")?.["pid"]);
  // A larger number cannot be a process of this machine.
  const lastPid = Number(textAt("/proc/sys/kernel/pid_max") ?? Number.POSITIVE_INFINITY);
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid > lastPid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemErrorCode(error) === "ESRCH";
  }
}

const NO_SNAPSHOT = `what this iteration may change is not known (no preIterationSnapshot): transitions are not checked`;

async function reasonsToGoOn(workspace: string, { note }: HookContext): Promise<string[]> {
  const { checkCommitted, checkTasks, readActive } = await import("../recipes/stories/rules.js");
  const { uncommittedFiles } = await import("../workspace/uncommitted.js");
  const { tasks, rules } = readActive(workspace);
  if (rules.before === undefined && !rules.skipReview) note(`hook stop: ${NO_SNAPSHOT}`);
  const uncommitted = checkCommitted(await uncommittedFiles(workspace));
  return [...checkTasks(tasks, rules).findings, ...uncommitted].map(({ message }) => message);
}

/** If blocks cannot be counted, allow one. */
async function mayBlock({ session, triesAgain }: HookInput, { env }: HookContext): Promise<boolean> {
  if (session === undefined) return !triesAgain;
  return orElse(() => {
    const blocks = openSession("stop", session, env);
    if (!triesAgain) blocks.forget();
    const count = blocks.marks().length;
    return count < MAX_BLOCKS && blocks.set(String(count + 1));
  }, !triesAgain);
}
