import { lstatSync } from "node:fs";
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
  stop?: AbortSignal,
): Promise<string | undefined> {
  return changesSince(workspace, base, hidden, { format: [], maxBytes: MAX_BYTES, ...(stop && { stop }) });
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
  stop?: AbortSignal;
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
  const all = look.names.filter(isOurs);
  if (commit === base && !changed && all.length === 0) return "";
  const isNamed = (name: string): boolean => shown.maxBytes !== undefined && isLarge(root, name);
  const names = all.filter((name) => !isNamed(name));
  const large = [...all, ...look.tracked].filter(isNamed).map(asText);
  const since = base ?? (await emptyTree(workspace));
  const text = await withIndexCopy(root, async (copy) => {
    const announced = names.length === 0 || (await announce(workspace, names, since, copy));
    return announced ? diff(workspace, since, copy, { ...shown, large }) : undefined;
  });
  return text === undefined
    ? undefined
    : `${text}${large.map((name) => `Large file, not shown: ${name}\n`).join("")}`;
}

/** git would read all of such a file to say no more than that it differs. */
const LARGE_BYTES = 20 * 1024 * 1024;

function isLarge(root: string, name: string): boolean {
  const path = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]);
  return (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES;
}

function asText(name: string): string {
  return Buffer.from(name, "latin1")
    .toString("utf8")
    .replace(/\p{Cc}/gu, "?");
}

async function diff(
  workspace: string,
  since: string,
  { env, settings }: IndexCopy,
  { format, large, ...limit }: Shown & { large: string[] },
): Promise<string | undefined> {
  const without = large.map((name) => `:(top,exclude,literal)${name}`);
  const args = [...settings, ...SETTINGS, "diff", ...FORMAT, ...format, since, ...PATHS, ...without];
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
  /** The same of files that git knows, and that differ. */
  tracked: string[];
}

/** Before the path of a file that has changed, without the kind of the line. */
const FIELDS = 7;

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
    tracked: after("1 ").map((entry) => entry.split(" ").slice(FIELDS).join(" ")),
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
