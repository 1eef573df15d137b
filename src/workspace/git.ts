import { type Captured, capture } from "../process/capture.js";
import type { RunOptions } from "../process/run.js";

/** Runs git with its arguments as they are: nothing passes through a shell. */
export function git(workspace: string, args: string[], options: RunOptions = {}): Promise<Captured> {
  return capture({ file: "git", args, cwd: workspace, env: quietEnvironment() }, options);
}

/** A question on the terminal would hang a loop that nobody watches. */
export function quietEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, GIT_TERMINAL_PROMPT: "0" };
}

const roots = new Map<string, string>();

/** Top folder of the repository that the workspace is in, or undefined. */
export async function repositoryRoot(workspace: string): Promise<string | undefined> {
  const known = roots.get(workspace);
  if (known !== undefined) return known;
  const { ok, stdout } = await git(workspace, ["rev-parse", "--show-toplevel"]);
  if (!ok) return undefined;
  const root = stdout.replace(/\n$/, "");
  roots.set(workspace, root);
  return root;
}
