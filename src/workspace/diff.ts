import { git, repositoryRoot } from "./git.js";
import { type IndexCopy, withIndexCopy } from "./index-copy.js";
import { RUNTIME_FOLDER } from "./runtime.js";

/** Far more than a prompt holds; what comes after that is not even made. */
const MAX_BYTES = 1024 * 1024;

/** The same text whatever the user's settings of git are. Very large files are told, not shown. */
const SETTINGS = ["-c", "core.quotePath=false", "-c", "core.bigFileThreshold=20m"];
const FORMAT = [
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--no-relative",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--unified=3",
  "--inter-hunk-context=0",
  "--find-renames",
  "--submodule=short",
  "-O/dev/null",
];
const PATHS = ["--", ".", ...["", "/**"].map((end) => `:(exclude,glob)**/${RUNTIME_FOLDER}${end}`)];

/**
 * The beginning of all that has changed in the workspace since `base` (a commit, or undefined in a repository
 * that had none), new files included. Nothing in the repository is written. undefined where it cannot be told.
 */
export async function diffSince(workspace: string, base: string | undefined): Promise<string | undefined> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const [since, names] = await Promise.all([base ?? emptyTree(workspace), newFiles(workspace)]);
  return withIndexCopy(root, async (copy) => {
    const announced = names.length === 0 || (await announce(workspace, names, since, copy));
    return announced ? diff(workspace, since, copy) : undefined;
  });
}

async function diff(
  workspace: string,
  since: string,
  { env, settings }: IndexCopy,
): Promise<string | undefined> {
  const args = [...settings, ...SETTINGS, "diff", ...FORMAT, since, ...PATHS];
  const own = { ...env, GIT_DIFF_OPTS: "" };
  const { ok, stdout } = await git(workspace, args, { env: own, maxBytes: MAX_BYTES });
  return ok ? stdout : undefined;
}

/** Names byte by byte, relative to the top. A repository inside, which ends in a slash, is not ours. */
async function newFiles(workspace: string): Promise<string[]> {
  const args = ["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ...PATHS];
  const { stdout } = await git(workspace, args, { encoding: "latin1" });
  return stdout.split("\0").filter((name) => name !== "" && !name.endsWith("/"));
}

/** git shows what the index names, and reads it from the disk: what the index says of it is not looked at. */
async function announce(
  workspace: string,
  names: string[],
  since: string,
  { env, settings }: IndexCopy,
): Promise<boolean> {
  const entries = names.map((name) => `100644 ${since}\t${name}\0`).join("");
  const args = [...settings, "update-index", "-z", "--index-info"];
  return (await git(workspace, args, { env, stdin: Buffer.from(entries, "latin1") })).ok;
}

async function emptyTree(workspace: string): Promise<string> {
  return (await git(workspace, ["hash-object", "-t", "tree", "--stdin"], { stdin: "" })).stdout.trim();
}
