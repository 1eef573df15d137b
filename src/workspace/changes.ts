import { dirname } from "node:path";
import type { FileChange } from "../events.js";
import type { Capture } from "../process/run.js";
import { asText, pathIn, statOf } from "./content.js";
import { type GitOptions, git, namesIn, pairsIn, repositoryRoot, untracked } from "./git.js";
import { hiddenFiles, type IndexState, indexState, withIndexCopy } from "./index-file.js";
import { RUNTIME_FOLDER } from "./runtime.js";
import { areAsBegun } from "./trees.js";

/** What has changed since a commit; undefined: since before the first. */
interface Since {
  workspace: string;
  base: string | undefined;
  /** New files that are not the run's own; a folder ends in `/`. */
  hidden?: string[] | undefined;
  /** The folder of the run's records, which tell what was there when it began. */
  records?: string | undefined;
  stop?: AbortSignal | undefined;
}

/** Far more than a prompt holds; what comes after that is not even made. */
const MAX_BYTES = 1024 * 1024;

/** Of a prompt's new files, the rest is only counted: git takes a while for thousands, and no prompt holds them. */
const MOST_NEW_FILES = 1000;

/** The same text whatever the user's settings of git are. */
const FORMAT = [
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"],
  ...["--unified=3", "--inter-hunk-context=0", "--find-renames", "-O/dev/null", "--submodule=short"],
];

/** The beginning of all that has changed, new files included. undefined where git cannot tell. */
export function diffSince(since: Since): Promise<string | undefined> {
  return compare(
    since,
    { mostNew: MOST_NEW_FILES, flagged: [] },
    async ({ changed, large, notShown, diff }) => {
      if (changed.size === 0) return "";
      const { ok, stdout } = await diff(FORMAT, { maxBytes: MAX_BYTES });
      const notes = large.map((name) => `Large file, not shown: ${asText(name).replace(/\p{Cc}/gu, "?")}\n`);
      const more = notShown > 0 ? `More new files, not shown: ${notShown}\n` : "";
      return ok ? `${stdout}${notes.join("")}${more}` : undefined;
    },
  );
}

/** The same as a whole, for `git apply`. */
export function patchSince(since: Since): Promise<string | undefined> {
  const all = { mostNew: Number.POSITIVE_INFINITY, flagged: [], maxBytes: Number.POSITIVE_INFINITY };
  return compare(since, all, async ({ diff }) => {
    const { ok, stdout } = await diff([...FORMAT, "--binary", "--full-index"], {});
    return ok ? stdout : undefined;
  });
}

const CHANGES: Record<string, FileChange["change"]> = { A: "added", D: "deleted" };

/** Files that differ and were touched since `begun`, by path; null where git cannot tell. Large ones are not counted. */
export async function changedFiles(since: Since, begun: Date): Promise<FileChange[] | null> {
  const root = repositoryRoot(since.workspace);
  if (root === undefined) return null;
  const { records, hidden = [] } = since;
  if (records !== undefined && (await areAsBegun(root, records, hidden, begun))) return [];
  const all = { mostNew: Number.POSITIVE_INFINITY, flagged: await hiddenFiles(root) };
  const files = await compare(since, all, async ({ changed, large, diff }) => {
    const counts = changed.size === 0 ? "" : (await diff(["--numstat", "-z", "--no-renames"], LATIN1)).stdout;
    const counted = [...namesIn(counts), ...large.map((name) => `-\t-\t${name}`)];
    return fileChanges(counted, changed)
      .filter(({ path }) => wasTouched(root, path, begun))
      .map((change) => ({ ...change, path: asText(change.path) }));
  });
  return files?.sort((a, b) => (a.path < b.path ? -1 : 1)) ?? null;
}

/** What `--numstat` says of files (`added TAB removed TAB path`), with git's letters for how each was changed. */
export function fileChanges(records: string[], letters: Map<string, string>): FileChange[] {
  const count = (text: string): number | null => (text === "-" ? null : Number(text));
  return records.map((record) => {
    const [added = "", removed = "", ...rest] = record.split("\t");
    const path = rest.join("\t");
    const change = CHANGES[letters.get(path) ?? ""] ?? "modified";
    return { path, change, added: count(added), removed: count(removed) };
  });
}

/** Names of files byte by byte. */
const LATIN1: GitOptions = { encoding: "latin1" };
const PATHS = ["--", ".", ...["", "/**"].map((end) => `:(exclude,glob)**/${RUNTIME_FOLDER}${end}`)];
/** `? ` stands before files that are not in the index. */
const LISTED = ["ls-files", "--full-name", "-t", "-z", "--modified", "--deleted"];
const SETTINGS: [name: string, value: string][] = [
  ["core.quotePath", "false"],
  ["core.bigFileThreshold", "20m"],
];
/** git would read all of such a file only to say that it differs. */
const LARGE_BYTES = 20 * 1024 * 1024;

interface Comparison {
  /** Files that differ, byte by byte, from the top on, each with git's letter for how. */
  changed: Map<string, string>;
  /** Those of them that are too large to be shown. */
  large: string[];
  /** How many new files are left out. */
  notShown: number;
  /** `git diff` without what is large. */
  diff(how: string[], options: GitOptions): Promise<Capture>;
}

/** How an index differs from a commit: what `git diff` says while all files are as the index has them. */
const compared = new WeakMap<IndexState, { of: string; tracked: Capture }>();

/** Compares by a copy of the index in which new files have a place: nothing in the repository is written. */
async function compare<Result>(
  { workspace, base, hidden = [], stop }: Since,
  { mostNew, flagged, maxBytes = LARGE_BYTES }: { mostNew: number; flagged: string[]; maxBytes?: number },
  use: (comparison: Comparison) => Promise<Result>,
): Promise<Result | undefined> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const empty = () => git(workspace, ["hash-object", "-t", "tree", "--stdin"], { stdin: "" });
  const since = base ?? (await empty()).stdout.trim();
  const index = await indexState(root);
  const of = [workspace, since, ...flagged].join("\0");
  return withIndexCopy(root, flagged, async ({ env, settings }) => {
    const options = {
      env: { ...env, GIT_DIFF_OPTS: "" },
      settings: [...settings, ...SETTINGS],
      ...(stop && { stop }),
    };
    const run = (args: string[], more: GitOptions) => git(workspace, args, { ...options, ...more });
    const diff = (how: string[], more: GitOptions, without: string[] = []) =>
      run(["diff", "--no-relative", "--ignore-submodules=dirty", ...how, since, ...PATHS, ...without], more);
    const trackedNow = () => diff(["--raw", "-z", "--no-renames"], LATIN1);
    const before = compared.get(index);
    const isKnown = before?.of === of;
    const [listed, first] = await Promise.all([
      run([...LISTED, ...untracked(workspace), ...PATHS], LATIN1),
      isKnown ? before.tracked : trackedNow(),
    ]);
    const entries = namesIn(listed.stdout);
    const others = entries.flatMap((entry) => (entry.startsWith("? ") ? [entry.slice(2)] : []));
    const isAsIndexed = others.length === entries.length;
    const tracked = isKnown && !isAsIndexed ? await trackedNow() : first;
    if (!listed.ok || !tracked.ok) return undefined;
    if (isAsIndexed) compared.set(index, { of, tracked });
    const notOurs = hidden.map((name) => Buffer.from(name).toString("latin1"));
    // A repository inside, which ends in a slash, is not ours.
    const found = others.filter(
      (name) =>
        !name.endsWith("/") &&
        !notOurs.some((other) => name === other || (other.endsWith("/") && name.startsWith(other))),
    );
    const names = found.slice(0, mostNew);
    // `:modes hashes LETTER`, then the path.
    const known = pairsIn(tracked.stdout).map(([field, name]) => [name, field.slice(-1)] as const);
    const changed = new Map([...known, ...names.map((name) => [name, "A"] as const)]);
    const isLarge = (name: string): boolean => (statOf(pathIn(root, name))?.size ?? 0) > maxBytes;
    const large = [...names.filter(isLarge), ...known.map(([name]) => name).filter(isLarge)];
    // git shows what the index names, and reads it from the disk: what the index says about it does not count.
    const places = names.filter((name) => !large.includes(name)).map((name) => `100644 ${since}\t${name}\0`);
    const stdin = Buffer.from(places.join(""), "latin1");
    if (places.length > 0 && !(await run(["update-index", "-z", "--index-info"], { stdin })).ok)
      return undefined;
    const without = large.map((name) => `:(top,exclude,literal)${asText(name)}`);
    const notShown = found.length - names.length;
    return use({ changed, large, notShown, diff: (how, more) => diff(how, more, without) });
  });
}

/**
 * What was different before the run and was left alone is not the run's doing. Programs such as tar and `cp -p` set
 * the time of a change; none sets the time at which the file was put there.
 */
function wasTouched(root: string, name: string, begun: Date): boolean {
  const stat = statOf(pathIn(root, name)) ?? statOf(pathIn(root, dirname(name)));
  if (stat === undefined || stat.ctime >= begun) return true;
  // A folder that was moved as a whole has a new time itself; what it holds has not.
  for (let folder = dirname(name); folder !== "."; folder = dirname(folder)) {
    const above = statOf(pathIn(root, folder));
    if (above !== undefined && above.ctime >= begun && above.mtime < begun) return true;
  }
  return false;
}
