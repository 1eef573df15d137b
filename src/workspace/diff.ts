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
  "--ignore-submodules=dirty",
  "-O/dev/null",
];
const PATHS = ["--", ".", ...["", "/**"].map((end) => `:(exclude,glob)**/${RUNTIME_FOLDER}${end}`)];

/**
 * The beginning of all that has changed in the workspace since `base` (a commit, or undefined in a repository
 * that had none), new files included but for the `hidden` ones. Nothing in the repository is written.
 * undefined where it cannot be told.
 */
export function diffSince(
  workspace: string,
  base: string | undefined,
  hidden: string[] = [],
): Promise<string | undefined> {
  return changesSince(workspace, base, hidden, { format: [], maxBytes: MAX_BYTES });
}

/** The same as a whole, for `git apply`. */
export function patchSince(
  workspace: string,
  base: string | undefined,
  hidden: string[] = [],
): Promise<string | undefined> {
  return changesSince(workspace, base, hidden, { format: ["--binary", "--full-index"] });
}

interface Shown {
  /** Flags of git diff besides the usual ones. */
  format: string[];
  maxBytes?: number;
}

async function changesSince(
  workspace: string,
  base: string | undefined,
  hidden: string[],
  shown: Shown,
): Promise<string | undefined> {
  const root = repositoryRoot(workspace);
  const look = root === undefined ? undefined : await lookAt(workspace);
  if (root === undefined || look === undefined) return undefined;
  const { commit, changed } = look;
  const notOurs = hidden.map((name) => Buffer.from(name).toString("latin1"));
  const isOurs = (name: string): boolean =>
    !notOurs.some((other) => name === other || (other.endsWith("/") && name.startsWith(other)));
  const names = look.names.filter(isOurs);
  if (commit === base && !changed && names.length === 0) return "";
  const since = base ?? (await emptyTree(workspace));
  return withIndexCopy(root, async (copy) => {
    const announced = names.length === 0 || (await announce(workspace, names, since, copy));
    return announced ? diff(workspace, since, copy, shown) : undefined;
  });
}

async function diff(
  workspace: string,
  since: string,
  { env, settings }: IndexCopy,
  { format, ...limit }: Shown,
): Promise<string | undefined> {
  const args = [...settings, ...SETTINGS, "diff", ...FORMAT, ...format, since, ...PATHS];
  const own = { ...env, GIT_DIFF_OPTS: "" };
  const { ok, stdout } = await git(workspace, args, { env: own, ...limit });
  return ok ? stdout : undefined;
}

interface Look {
  /** The commit that is checked out; undefined before the first. */
  commit: string | undefined;
  /** Whether a file that git knows differs from it. */
  changed: boolean;
  /** New files, byte by byte, relative to the top. */
  names: string[];
}

/** One process tells most of the time that there is nothing to show, or which files are new. */
async function lookAt(workspace: string): Promise<Look | undefined> {
  const status = ["status", "--porcelain=v2", "--branch", "--no-renames", "-z", "--untracked-files=all"];
  const parts = "--ignore-submodules=dirty";
  const { ok, stdout } = await git(workspace, ["--no-optional-locks", ...status, parts, ...PATHS], {
    encoding: "latin1",
  });
  if (!ok) return undefined;
  const entries = stdout.split("\0");
  const after = (start: string): string[] =>
    entries.filter((entry) => entry.startsWith(start)).map((entry) => entry.slice(start.length));
  const [commit] = after("# branch.oid ");
  return {
    commit: commit === "(initial)" ? undefined : commit,
    changed: entries.some((entry) => /^[12u] /.test(entry)),
    // A repository inside, which ends in a slash, is not ours.
    names: after("? ").filter((name) => !name.endsWith("/")),
  };
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
