import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileChange } from "../events.js";
import { type GitOptions, git, repositoryRoot } from "./git.js";
import { withIndexCopy } from "./index-copy.js";

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
): Promise<FileChange[] | null> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return null;
  const [untracked, tracked] = await Promise.all([
    newFiles(workspace, root, ["--others", "--exclude-standard"]),
    base === undefined ? newFiles(workspace, root, []) : differences(workspace, root, base),
  ]);
  if (tracked === undefined) return null;
  const byPath = new Map([...tracked, ...untracked].map((file) => [file.path, file]));
  return [...byPath.values()]
    .filter(({ path }) => !path.split("/").includes(".ralph") && wasTouched(join(root, path), since))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function newFiles(workspace: string, root: string, which: string[]): Promise<FileChange[]> {
  const fields = await fieldsOf(workspace, ["ls-files", "--full-name", "-z", ...which, "--", "."]);
  return fields.map((path) => ({ path, change: "added", added: lineCount(join(root, path)), removed: 0 }));
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
    "-z",
  ];
  const fields = await withIndexCopy(root, ({ env, settings }) =>
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

/** null: binary, too large, or not a file. */
function lineCount(path: string): number | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MAX_COUNTED_BYTES) return null;
  const bytes = readFileSync(path);
  if (bytes.includes(0)) return null;
  const complete = bytes.reduce((count, byte) => (byte === LF ? count + 1 : count), 0);
  return bytes.length > 0 && bytes.at(-1) !== LF ? complete + 1 : complete;
}

/** What was different before the run and was left alone is not the run's doing. */
function wasTouched(path: string, since: Date): boolean {
  const stat =
    lstatSync(path, { throwIfNoEntry: false }) ?? lstatSync(dirname(path), { throwIfNoEntry: false });
  return stat === undefined || stat.mtime >= since;
}
