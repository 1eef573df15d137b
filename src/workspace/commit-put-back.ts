import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitOptions, git, SOMEBODY } from "./git.js";

/** What to change in an index: arguments of `git update-index`, and what it reads. */
export interface IndexUpdate {
  args: string[];
  stdin: string;
}

/** No commit looks like another one because an agent has written a replacement for it. */
export const AS_STORED = { GIT_NO_REPLACE_OBJECTS: "1" };

const MAX_NAMES = 3;

/**
 * Commits on top of HEAD what was put back, and nothing else. The user's index and files are not touched; nobody's
 * hooks or keys have a say. Returns why there is no commit, where there is none.
 */
export async function commitPutBack(
  workspace: string,
  names: string[],
  { args, stdin }: IndexUpdate,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-index-"));
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

function someOf(names: string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}
