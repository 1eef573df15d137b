import { rmSync } from "node:fs";
import { join } from "node:path";
import { textAt } from "../../workspace/content.js";
import { type GitOptions, git, nulEnded, SOMEBODY, scratchFolder, someOf } from "../../workspace/git.js";
import { unfinished } from "../../workspace/start.js";

/** What to change in an index: arguments of `git update-index`, and its input. */
interface IndexUpdate {
  args: string[];
  stdin: string;
}

/** An agent can write a replacement for a commit, and make it look like another one. */
export const AS_STORED = { GIT_NO_REPLACE_OBJECTS: "1" };

/**
 * Commits on top of HEAD what was put back, and nothing else. The user's index and files are not touched; no hook
 * and no key has a say. Returns why there is no commit, if there is none.
 */
export async function commitPutBack(
  workspace: string,
  names: string[],
  { args, stdin }: IndexUpdate,
): Promise<string | undefined> {
  const folder = scratchFolder(workspace);
  const aside: GitOptions = {
    env: { GIT_INDEX_FILE: join(folder, "index"), ...AS_STORED },
    settings: [["core.splitIndex", "false"]],
  };
  const step = async (what: string[], more: GitOptions = {}): Promise<string> => {
    const { ok, stdout, stderr, spawnError } = await git(workspace, what, { ...aside, ...more });
    if (!ok) throw new StepFailed((stderr || spawnError?.message || `git ${what[0]} failed`).trim());
    return stdout.trim();
  };
  try {
    const head = await step(["rev-parse", "--verify", "HEAD"]);
    await step(["read-tree", head]);
    await step(["update-index", ...args], { stdin });
    const tree = await step(["write-tree"]);
    const message = `ralph: put back ${someOf(names)}`;
    const commit = ["commit-tree", tree, "-p", head, "-m", message];
    const asUser = await git(workspace, commit, aside);
    const made = asUser.ok ? asUser.stdout.trim() : await step([...SOMEBODY, ...commit]);
    await step(["update-ref", "-m", message, "HEAD", made, head]);
    return undefined;
  } catch (error) {
    if (error instanceof StepFailed) return error.message.replace(/\s*\n\s*/g, " ");
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class StepFailed extends Error {}

/**
 * Commits files as they were put back on disk: otherwise a checkout would bring the agent's versions back. A file
 * that was never committed is not ralph's to commit. Where git refuses, the files stay uncommitted.
 */
export async function commitFiles(workspace: string, names: string[]): Promise<void> {
  const differing: string[] = [];
  for (const name of names) {
    const { ok, stdout } = await git(workspace, ["show", `HEAD:./${name}`]);
    const wasCommitted = ok || (await git(workspace, ["rev-list", "-1", "HEAD", "--", name])).stdout !== "";
    if (wasCommitted && (!ok || stdout !== textAt(join(workspace, name)))) differing.push(name);
  }
  if (differing.length === 0 || (await unfinished(workspace)) !== undefined) return;
  const stdin = nulEnded(differing);
  const update = { args: ["--add", "--remove", "-z", "--stdin"], stdin };
  const failure = await commitPutBack(workspace, differing, update);
  if (failure === undefined) await git(workspace, ["update-index", ...update.args], { stdin });
}
