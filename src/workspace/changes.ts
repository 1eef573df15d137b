import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileChange } from "../events.js";
import { statOf } from "./content.js";
import { type GitOptions, git, namesIn, repositoryRoot, untracked } from "./git.js";
import { hiddenFiles, withIndexCopy } from "./index-file.js";

/** git would read all of such a file only to say that it differs. */
export const LARGE_BYTES = 20 * 1024 * 1024;

/** Files that differ from `base` and were touched since then, by path; null where git cannot tell. */
export async function changedFiles(
  workspace: string,
  base: string | undefined,
  since: Date,
  hidden: string[] = [],
  stop?: AbortSignal,
): Promise<FileChange[] | null> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return null;
  const list = async (which: string[]): Promise<FileChange[]> => {
    const args = ["--no-optional-locks", "ls-files", "--full-name", "-z", ...which, "--", "."];
    const { stdout } = await git(workspace, args, { ...(stop && { stop }) });
    return namesIn(stdout).map((path) => ({ path, change: "added", added: null, removed: 0 }));
  };
  const [others, tracked] = await Promise.all([
    list(untracked(workspace)),
    base === undefined ? list([]) : differences(workspace, root, base, stop),
  ]);
  if (tracked === undefined) return null;
  const own = others.filter(({ path }) => !hidden.includes(path));
  const byPath = new Map([...tracked, ...own].map((file) => [file.path, file]));
  return [...byPath.values()]
    .filter(({ path }) => !path.split("/").includes(".ralph") && wasTouched(root, path, since))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((file, index) =>
      isUncounted(file) ? { ...file, added: lineCount(join(root, file.path), index) } : file,
    );
}

/** git has not counted its lines. */
function isUncounted({ change, added, removed }: FileChange): boolean {
  return change === "added" && added === null && removed === 0;
}

const DIFF = ["diff", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv"];
const CHANGES: Record<string, FileChange["change"]> = { A: "added", D: "deleted" };

/** Lines of large files are not counted. */
async function differences(
  workspace: string,
  root: string,
  base: string,
  stop: AbortSignal | undefined,
): Promise<FileChange[] | undefined> {
  return withIndexCopy(root, await hiddenFiles(root), async (copy) => {
    const options: GitOptions = { ...copy, ...(stop && { stop }) };
    const diff = async (how: string, without: string[]): Promise<string[]> => {
      const args = [...DIFF, how, "--ignore-submodules=dirty", "-z", base, "--", ".", ...without];
      return namesIn((await git(workspace, args, options)).stdout);
    };
    // One record for each file: `:modes hashes LETTER`, path; then `added TAB removed TAB path`.
    const raw = await diff("--raw", []);
    const letters = new Map(
      raw.flatMap((field, at) => (at % 2 === 0 ? [[raw[at + 1] ?? "", field.slice(-1)]] : [])),
    );
    const large = [...letters.keys()].filter((path) => (statOf(join(root, path))?.size ?? 0) > LARGE_BYTES);
    const withoutLarge = large.map((path) => `:(top,exclude,literal)${path}`);
    const counts = letters.size === 0 ? [] : await diff("--numstat", withoutLarge);
    return [...counts, ...large.map((path) => `-\t-\t${path}`)].map((record): FileChange => {
      const [added = "", removed = "", ...rest] = record.split("\t");
      const path = rest.join("\t");
      const change = CHANGES[letters.get(path) ?? ""] ?? "modified";
      const count = (text: string): number | null => (text === "-" ? null : Number(text));
      return { path, change, added: count(added), removed: count(removed) };
    });
  });
}

/** Larger files, and more of them, are not read only to count their lines. */
const MAX_COUNTED_BYTES = 1024 * 1024;
const MAX_COUNTED_FILES = 500;

/** null: binary, too large, not a file, or one of too many. */
function lineCount(path: string, index: number): number | null {
  const stat = statOf(path);
  if (index >= MAX_COUNTED_FILES || !stat?.isFile() || stat.size > MAX_COUNTED_BYTES) return null;
  const text = readFileSync(path, "latin1");
  if (text.includes("\0")) return null;
  return text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
}

/**
 * What was different before the run and was left alone is not the run's doing. Programs such as tar and `cp -p` set
 * the time of a change; none sets the time at which the file was put there.
 */
function wasTouched(root: string, path: string, since: Date): boolean {
  const file = join(root, path);
  const stat = statOf(file) ?? statOf(dirname(file));
  if (stat === undefined || stat.ctime >= since) return true;
  // A folder that was moved as a whole has a new time itself; what it holds has not.
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    const above = statOf(join(root, folder));
    if (above !== undefined && above.ctime >= since && above.mtime < since) return true;
  }
  return false;
}
