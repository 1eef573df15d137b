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
  if (repositoryRoot(workspace) === undefined) return undefined;
  const since = base ?? (await emptyTree(workspace));
  const [tracked, untracked] = await Promise.all([
    git(workspace, ["--no-optional-locks", "diff", ...FORMAT, since, ...PATHS]),
    git(workspace, ["--no-optional-locks", "ls-files", "--others", "--exclude-standard", "-z", ...PATHS]),
  ]);
  return untracked.stdout === "" ? tracked.stdout : diffWithNewFiles(workspace, since, untracked.stdout);
}

/** The new files are announced in a copy of the index, so that git itself shows them. */
async function diffWithNewFiles(workspace: string, since: string, names: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-index-"));
  try {
    const index = join(folder, "index");
    const { stdout } = await git(workspace, ["rev-parse", "--git-path", "index"]);
    const own = resolve(workspace, stdout.trim());
    if (existsSync(own)) copyFileSync(own, index);
    const env = { GIT_INDEX_FILE: index };
    const add = ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
    await git(workspace, ["--literal-pathspecs", ...add], { env, stdin: names });
    return (await git(workspace, ["diff", ...FORMAT, since, ...PATHS], { env })).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function emptyTree(workspace: string): Promise<string> {
  return (await git(workspace, ["hash-object", "-t", "tree", "--stdin"], { stdin: "" })).stdout.trim();
}
