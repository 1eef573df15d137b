import { LARGE_BYTES } from "./changes.js";
import { pathIn, statOf } from "./content.js";
import { type GitOptions, git, repositoryRoot } from "./git.js";
import { withIndexCopy } from "./index-file.js";
import { RUNTIME_FOLDER } from "./runtime.js";

/** Far more than a prompt holds; what comes after that is not even made. */
const MAX_BYTES = 1024 * 1024;

/** Of a prompt's new files, the rest is only counted: git takes a while for thousands, and no prompt holds them. */
const MOST_NEW_FILES = 1000;

/** The same text whatever the user's settings of git are. */
const SETTINGS: [name: string, value: string][] = [
  ["core.quotePath", "false"],
  ["core.bigFileThreshold", "20m"],
];
const FORMAT = [
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/"],
  ...["--unified=3", "--inter-hunk-context=0", "--find-renames", "-O/dev/null"],
  ...["--submodule=short", "--ignore-submodules=dirty"],
];
const PATHS = ["--", ".", ...["", "/**"].map((end) => `:(exclude,glob)**/${RUNTIME_FOLDER}${end}`)];

/**
 * The beginning of all that has changed in the workspace since `base` (a commit, or undefined in a repository
 * that had none), new files included but for the `hidden` ones. Nothing in the repository is written.
 * undefined where git cannot tell.
 */
export function diffSince(
  workspace: string,
  base: string | undefined,
  hidden: string[] = [],
  stop?: AbortSignal,
): Promise<string | undefined> {
  return changesSince(workspace, base, hidden, [], { maxBytes: MAX_BYTES, ...(stop && { stop }) });
}

/** The same as a whole, for `git apply`. */
export function patchSince(
  workspace: string,
  base: string | undefined,
  hidden: string[] = [],
): Promise<string | undefined> {
  return changesSince(workspace, base, hidden, ["--binary", "--full-index"], {});
}

async function changesSince(
  workspace: string,
  base: string | undefined,
  hidden: string[],
  format: string[],
  limit: Pick<GitOptions, "maxBytes" | "stop">,
): Promise<string | undefined> {
  const root = repositoryRoot(workspace);
  const status = root === undefined ? undefined : await statusOf(workspace);
  if (root === undefined || status === undefined) return undefined;
  const notOurs = hidden.map((name) => Buffer.from(name).toString("latin1"));
  const isOurs = (name: string): boolean =>
    !notOurs.some((other) => name === other || (other.endsWith("/") && name.startsWith(other)));
  const found = status.names.filter(isOurs);
  const all = limit.maxBytes === undefined ? found : found.slice(0, MOST_NEW_FILES);
  if (status.commit === base && !status.changed && all.length === 0) return "";
  const isLarge = (name: string): boolean =>
    limit.maxBytes !== undefined && (statOf(pathIn(root, name))?.size ?? 0) > LARGE_BYTES;
  const names = all.filter((name) => !isLarge(name));
  const large = [...all, ...status.tracked].filter(isLarge).map(asText);
  const empty = ["hash-object", "-t", "tree", "--stdin"];
  const since = base ?? (await git(workspace, empty, { stdin: "" })).stdout.trim();
  const text = await withIndexCopy(root, [], async ({ env, settings }) => {
    // git shows what the index names, and reads it from the disk: what the index says about it does not count.
    const stdin = Buffer.from(names.map((name) => `100644 ${since}\t${name}\0`).join(""), "latin1");
    const announced =
      names.length === 0 ||
      (await git(workspace, ["update-index", "-z", "--index-info"], { env, settings, stdin })).ok;
    if (!announced) return undefined;
    const without = large.map((name) => `:(top,exclude,literal)${name}`);
    const { ok, stdout } = await git(workspace, ["diff", ...FORMAT, ...format, since, ...PATHS, ...without], {
      ...limit,
      env: { ...env, GIT_DIFF_OPTS: "" },
      settings: [...settings, ...SETTINGS],
    });
    return ok ? stdout : undefined;
  });
  if (text === undefined) return undefined;
  const more = found.length > all.length ? `More new files, not shown: ${found.length - all.length}\n` : "";
  return `${text}${large.map((name) => `Large file, not shown: ${name}\n`).join("")}${more}`;
}

function asText(name: string): string {
  return Buffer.from(name, "latin1")
    .toString("utf8")
    .replace(/\p{Cc}/gu, "?");
}

interface Status {
  /** The commit that is checked out; undefined before the first. */
  commit: string | undefined;
  /** Whether a file that git knows differs from it. */
  changed: boolean;
  /** New files, byte by byte, from the top on. */
  names: string[];
  /** The same of files that git knows, and that differ. */
  tracked: string[];
}

/** Before the path of a file that has changed, without the kind of the line. */
const FIELDS = 7;

/** One process says most of the time that there is nothing to show, or which files are new. */
async function statusOf(workspace: string): Promise<Status | undefined> {
  const how = ["--porcelain=v2", "--branch", "--no-renames", "-z", "--untracked-files=all"];
  const args = ["--no-optional-locks", "status", ...how, "--ignore-submodules=dirty", ...PATHS];
  const { ok, stdout } = await git(workspace, args, { encoding: "latin1" });
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
