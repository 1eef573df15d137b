import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileChange } from "../events.js";
import { type GitOptions, git, repositoryRoot } from "./git.js";
import { indexNow, newlyFlagged, withoutFlags } from "./index-flags.js";
import { startOf, untracked } from "./start.js";

/** The commit that is checked out, or undefined in a repository without one. */
export async function headCommit(workspace: string): Promise<string | undefined> {
  const { ok, stdout } = await git(workspace, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  return ok ? stdout.trim() : undefined;
}

/** Files that differ from `base` and were touched since then, by path; null where that cannot be told. */
export async function changedFiles(
  workspace: string,
  base: string | undefined,
  since: Date,
  hidden: string[] = [],
): Promise<FileChange[] | null> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return null;
  const [others, tracked] = await Promise.all([
    newFiles(workspace, untracked(workspace)),
    base === undefined ? newFiles(workspace, []) : differences(workspace, root, base),
  ]);
  if (tracked === undefined) return null;
  const own = others.filter(({ path }) => !hidden.includes(path));
  const byPath = new Map([...tracked, ...own].map((file) => [file.path, file]));
  return [...byPath.values()]
    .filter(({ path }) => !path.split("/").includes(".ralph") && wasTouched(root, path, since))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((file, index) => (isNew(file) ? { ...file, added: lineCount(join(root, file.path), index) } : file));
}

async function newFiles(workspace: string, which: string[]): Promise<FileChange[]> {
  const fields = await fieldsOf(workspace, ["ls-files", "--full-name", "-z", ...which, "--", "."]);
  return fields.map((path) => ({ path, change: "added", added: null, removed: 0 }));
}

/** git has not counted its lines. */
function isNew({ change, added, removed }: FileChange): boolean {
  return change === "added" && added === null && removed === 0;
}

const CHANGES: Record<string, FileChange["change"]> = { A: "added", D: "deleted" };

/** Two parts, one record per file in each: `:modes hashes LETTER`, path; then `added TAB removed TAB path`. */
async function differences(workspace: string, root: string, base: string): Promise<FileChange[] | undefined> {
  const what = [
    "--raw",
    "--numstat",
    "--no-renames",
    "--no-relative",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
    "-z",
  ];
  const start = startOf(root);
  const hidden = start === undefined ? [] : newlyFlagged(await indexNow(root), start);
  const fields = await withoutFlags(root, hidden, ({ env, settings }) =>
    fieldsOf(workspace, [...settings, "diff", ...what, base, "--", "."], { env }),
  );
  if (fields === undefined) return undefined;
  const letters = new Map<string, string>();
  const files: FileChange[] = [];
  for (let index = 0; index < fields.length; index += 1) {
    const field = fields[index] ?? "";
    if (field.startsWith(":")) {
      index += 1;
      letters.set(fields[index] ?? "", field.slice(-1));
      continue;
    }
    const [added = "", removed = "", ...path] = field.split("\t");
    files.push({
      path: path.join("\t"),
      change: CHANGES[letters.get(path.join("\t")) ?? ""] ?? "modified",
      added: added === "-" ? null : Number(added),
      removed: removed === "-" ? null : Number(removed),
    });
  }
  return files;
}

async function fieldsOf(workspace: string, args: string[], options: GitOptions = {}): Promise<string[]> {
  const { stdout } = await git(workspace, ["--no-optional-locks", ...args], options);
  return stdout.split("\0").filter(Boolean);
}

/** Larger files are not read just to count their lines. */
const MAX_COUNTED_BYTES = 1024 * 1024;
const LF = 0x0a;

/** No more are named when a run ends. */
const MAX_COUNTED_FILES = 500;

/** null: binary, too large, not a file, or one of too many. */
function lineCount(path: string, index: number): number | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (index >= MAX_COUNTED_FILES || !stat?.isFile() || stat.size > MAX_COUNTED_BYTES) return null;
  const bytes = readFileSync(path);
  if (bytes.includes(0)) return null;
  let lines = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return bytes.length > 0 && bytes.at(-1) !== LF ? lines + 1 : lines;
}

/**
 * What was different before the run and was left alone is not the run's doing. Programs such as tar and `cp -p` set
 * the time of a change, and nobody sets the time at which the file was put there.
 */
function wasTouched(root: string, path: string, since: Date): boolean {
  const file = join(root, path);
  const stat =
    lstatSync(file, { throwIfNoEntry: false }) ?? lstatSync(dirname(file), { throwIfNoEntry: false });
  return stat === undefined || stat.ctime >= since || wasMoved(root, dirname(path), since);
}

/** A folder that was moved as a whole has a new time itself; what it holds has not. */
function wasMoved(root: string, folder: string, since: Date): boolean {
  if (folder === ".") return false;
  const stat = lstatSync(join(root, folder), { throwIfNoEntry: false });
  return (
    (stat !== undefined && stat.ctime >= since && stat.mtime < since) ||
    wasMoved(root, dirname(folder), since)
  );
}
