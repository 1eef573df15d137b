import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { headCommit } from "./changes.js";
import { git, repositoryRoot } from "./git.js";
import { uncommittedFiles } from "./uncommitted.js";

/** What a repository holds at one moment: its commit, and every file that differs from it, with a word for its content. */
export interface Work {
  head?: string | undefined;
  /** By path, from the top of the repository on. */
  dirty: Record<string, string>;
}

/** undefined where git cannot tell. */
export async function lookAtWork(workspace: string): Promise<Work | undefined> {
  const root = repositoryRoot(workspace);
  const files = root === undefined ? undefined : await uncommittedFiles(workspace);
  if (root === undefined || files === undefined) return undefined;
  const all = files.flatMap((file) => (file.endsWith("/") ? filesBelow(root, file) : [file]));
  const dirty = Object.fromEntries(all.map((file) => [file, contentOf(join(root, file))]));
  return { head: await headCommit(workspace), dirty };
}

/** Files whose content, committed or not, was given to them between the two. Undoing what was not committed is no edit. */
export async function editedBetween(workspace: string, before: Work, after: Work): Promise<string[]> {
  const committed = await committedBetween(workspace, before.head, after.head);
  const edited = [
    ...committed.filter((file) => !isCommittedAsItWas(workspace, file, before, after)),
    ...Object.keys(after.dirty).filter((file) => after.dirty[file] !== before.dirty[file]),
  ];
  return [...new Set(edited)].sort();
}

async function committedBetween(workspace: string, from?: string, to?: string): Promise<string[]> {
  if (to === undefined || from === to) return [];
  const list = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", to];
  const diff = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-relative", from ?? "", to];
  const { stdout } = await git(workspace, from === undefined ? list : diff);
  return stdout.split("\0").filter(Boolean);
}

function isCommittedAsItWas(workspace: string, file: string, before: Work, after: Work): boolean {
  if (before.dirty[file] === undefined || file in after.dirty) return false;
  return before.dirty[file] === contentOf(join(repositoryRoot(workspace) ?? workspace, file));
}

/** A folder with more files is one entry. */
const MAX_FILES = 5000;

function filesBelow(root: string, folder: string): string[] {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const path = join(root, next);
    const entries = ifReadable(() => readdirSync(path, { withFileTypes: true })) ?? [];
    // A repository inside has files of its own.
    if (entries.some(({ name }) => name === ".git")) files.push(next);
    else
      for (const entry of entries) {
        if (entry.isDirectory()) folders.push(`${next}${entry.name}/`);
        else files.push(`${next}${entry.name}`);
      }
    if (files.length > MAX_FILES) return [folder];
  }
  return files;
}

/** Larger files are told apart by their time. */
const MAX_READ_BYTES = 1024 * 1024;

function contentOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "gone";
  if (stat.isSymbolicLink()) return `link ${ifReadable(() => readlinkSync(path))}`;
  const time = `${stat.mtimeMs} ${stat.size}`;
  if (!stat.isFile() || stat.size > MAX_READ_BYTES) return time;
  const bytes = ifReadable(() => readFileSync(path));
  return bytes === undefined ? time : `${createHash("sha256").update(bytes).digest("hex")} ${stat.mode}`;
}

/** Agents can take the right to read away, or the file itself. */
function ifReadable<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
