import { lstatSync } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { digest } from "../state/digest.js";
import type { TreeLook } from "../verify/one-tree.js";
import { contentTree } from "./content-tree.js";
import { git, repositoryRoot } from "./git.js";

/** Enough to notice a change in a folder without a repository; more would cost too much to look at. */
const MAX_FILES = 20_000;
const SKIPPED = new Set([".git", ".ralph", "node_modules"]);

/** `time`: any write counts, as a sign of life. `content`: only one that leaves another content behind. */
export type ChangeBy = "time" | "content";

/** A word for the state of the files: it is the same again as long as none was changed. */
export async function fingerprint(workspace: string, by: ChangeBy): Promise<string> {
  return by === "time" ? (await seenIn(workspace)).word : (await lookAt(workspace)).content();
}

/** What is not as in the last commit, and a word for the content of all of it, which a commit does not change. */
export async function lookAt(workspace: string): Promise<TreeLook> {
  const { changed, files, word } = await seenIn(workspace);
  const content = async (): Promise<string> =>
    changed === undefined ? contentOf(workspace, files) : contentWord(workspace, changed, word);
  return { files, content };
}

interface Seen {
  /** undefined outside a repository. */
  changed: Changed | undefined;
  files: Map<string, string>;
  word: string;
}

async function seenIn(workspace: string): Promise<Seen> {
  const changed = await changedFiles(workspace);
  const { root, files } = changed ?? { root: workspace, files: await walk(workspace) };
  const stamps = new Map(files.map((file) => [file, writeStamp(join(root, file))]));
  const word = await digest([changed?.status ?? "", ...[...stamps].flat()].join("\0"));
  return { changed, files: stamps, word };
}

async function contentOf(root: string, files: Map<string, string>): Promise<string> {
  const stamps: string[] = [];
  for (const file of files.keys()) stamps.push(file, await contentStamp(join(root, file)));
  return digest(stamps.join("\0"));
}

/** The last answer by folder: most often nothing has changed, and looking is cheaper than listing. */
const answers = new Map<string, { seen: string; word: string }>();

/** A word that a commit does not change; `seen` is one that changes with it, too. */
async function contentWord(workspace: string, { root, files }: Changed, seen: string): Promise<string> {
  const last = answers.get(workspace);
  if (last?.seen === seen) return last.word;
  const [small, others] = await bySize(root, files);
  const tree = await contentTree(workspace, root, small);
  const stamps = await Promise.all(others.map((file) => contentStamp(join(root, file))));
  const word = tree === undefined ? seen : await digest([tree, ...others, ...stamps].join("\0"));
  answers.set(workspace, { seen, word });
  return word;
}

/** Those that git can be given, and folders and files that are too large for it. */
async function bySize(root: string, files: string[]): Promise<[string[], string[]]> {
  const stats = await Promise.all(files.map((file) => lstat(join(root, file)).catch(() => undefined)));
  const isSmall = files.map((_, index) => {
    const stat = stats[index];
    return stat === undefined || stat.isSymbolicLink() || (stat.isFile() && stat.size <= MAX_READ_BYTES);
  });
  return [files.filter((_, index) => isSmall[index]), files.filter((_, index) => !isSmall[index])];
}

interface Changed {
  /** What the paths are relative to. */
  root: string;
  status: string;
  files: string[];
}

/** What differs from HEAD, HEAD included; undefined outside a repository. */
async function changedFiles(workspace: string): Promise<Changed | undefined> {
  const args = [
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=dirty",
    "--",
    ".",
    ":!.ralph",
  ];
  const { ok, stdout } = await git(workspace, ["--no-optional-locks", ...args]);
  const root = ok ? repositoryRoot(workspace) : undefined;
  if (root === undefined) return undefined;
  return { root, status: stdout, files: pathsIn(stdout.split("\0")) };
}

/** Fields before the path in a line of `git status --porcelain=v2`, by the kind of the line. */
const FIELDS: Record<string, number> = { "1": 8, "2": 9, u: 10, "?": 1 };

function pathsIn(entries: string[]): string[] {
  return entries.flatMap((entry, index) => {
    // A rename is followed by its old name, which can look like anything.
    const fields = entries[index - 1]?.startsWith("2 ") ? undefined : FIELDS[entry.split(" ", 1)[0] ?? ""];
    return fields === undefined ? [] : [entry.split(" ").slice(fields).join(" ")];
  });
}

async function walk(folder: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [""];
  for (let next = folders.pop(); next !== undefined && files.length < MAX_FILES; next = folders.pop()) {
    const entries = await readdir(join(folder, next), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (SKIPPED.has(entry.name)) continue;
      const path = next === "" ? entry.name : `${next}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else files.push(path);
    }
  }
  return files.sort();
}

/** Larger files are told apart by their time alone. */
const MAX_READ_BYTES = 1024 * 1024;

async function contentStamp(path: string): Promise<string> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  if (stat === undefined) return "gone";
  const isReadable = stat.isFile() && stat.size <= MAX_READ_BYTES;
  const content = isReadable ? await readFile(path, "latin1").catch(() => undefined) : undefined;
  return `${content ?? stat.mtimeNs} ${stat.size} ${stat.mode}`;
}

/** Nobody can set the time of the last change of a file's entry. */
function writeStamp(path: string): string {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "gone" : `${stat.ctimeNs} ${stat.size} ${stat.ino} ${stat.mode}`;
}
