import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { git, repositoryRoot } from "./git.js";
import { RUNTIME_FOLDER } from "./runtime.js";

const FORMAT = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
const PATHS = ["--", ".", `:(exclude)${RUNTIME_FOLDER}`];

/**
 * What has changed since `base` (a commit, or undefined in a repository that had none), new files included.
 * Neither the index nor HEAD nor the stash of the user is touched. undefined outside a repository.
 */
export async function diffSince(workspace: string, base: string | undefined): Promise<string | undefined> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const { commit, changed, untracked } = await lookAt(workspace);
  if (commit === base && !changed && untracked.length === 0) return "";
  const since = base ?? (await emptyTree(workspace));
  if (untracked.length > 0) return diffWithNewFiles(workspace, root, since, untracked);
  return (await git(workspace, ["--no-optional-locks", "diff", ...FORMAT, since, ...PATHS])).stdout;
}

interface Look {
  /** The commit that is checked out; undefined before the first. */
  commit: string | undefined;
  /** Whether a file that git knows differs from it. */
  changed: boolean;
  /** New files, from the top of the repository. */
  untracked: string[];
}

/** One process tells most of the time that there is nothing to show, or which files are new. */
async function lookAt(workspace: string): Promise<Look> {
  const status = ["status", "--porcelain=v2", "--branch", "--no-renames", "-z", "--untracked-files=all"];
  const { stdout } = await git(workspace, ["--no-optional-locks", ...status, ...PATHS]);
  const entries = stdout.split("\0");
  const after = (start: string): string[] =>
    entries.filter((entry) => entry.startsWith(start)).map((entry) => entry.slice(start.length));
  const [commit] = after("# branch.oid ");
  return {
    commit: commit === "(initial)" ? undefined : commit,
    changed: entries.some((entry) => /^[12u] /.test(entry)),
    untracked: after("? "),
  };
}

/** The new files are announced in a copy of the index, so that git itself shows them. */
async function diffWithNewFiles(
  workspace: string,
  root: string,
  since: string,
  untracked: string[],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-index-"));
  try {
    const index = join(folder, "index");
    const { stdout } = await git(workspace, ["rev-parse", "--git-path", "index"]);
    const own = resolve(workspace, stdout.trim());
    if (existsSync(own)) copyFileSync(own, index);
    const env = { GIT_INDEX_FILE: index };
    const add = ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
    await git(root, ["--literal-pathspecs", ...add], { env, stdin: untracked.join("\0") });
    return (await git(workspace, ["diff", ...FORMAT, since, ...PATHS], { env })).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function emptyTree(workspace: string): Promise<string> {
  return (await git(workspace, ["hash-object", "-t", "tree", "--stdin"], { stdin: "" })).stdout.trim();
}
