import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GitOptions, git, looseCommit, SOMEBODY, scratchFolder } from "../git.js";
import { oneLine } from "../worktree/worktree.js";

/** Two commits, and where they met last. */
export interface Sides {
  base: string;
  target: string;
  tip: string;
}

/** Files that a caller merges itself, by their paths. */
export type MergedFiles = Record<string, string>;

interface Merge {
  tree: string;
  /** Files in which git found a conflict. */
  files: string[];
  /** What git said about them. */
  said: string;
}

/** What git cannot do, in a sentence. */
export interface Impossible {
  failed: string;
}

/** Merges two commits without a checkout: nothing but new objects is written. */
export async function mergeTrees(
  repository: string,
  target: string,
  tip: string,
): Promise<Merge | Impossible> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", target, tip];
  const { exitCode, stdout, stderr } = await git(repository, args);
  if (exitCode === USAGE) return { failed: "git is too old to merge without a checkout: 2.38 is needed" };
  if (exitCode !== 0 && exitCode !== 1) return { failed: saidBy(stderr) };
  const [tree = "", ...fields] = stdout.split("\0");
  const end = exitCode === 0 ? 0 : fields.indexOf("");
  const messages = fields.slice(end).filter((field) => field.startsWith("CONFLICT ") && field.includes(":"));
  return { tree: tree.trim(), files: fields.slice(0, end), said: messages.join("").trim() };
}

const USAGE = 129;

/** Files in which two commits would conflict; none where git cannot tell. */
export async function overlapOf(repository: string, one: string, other: string): Promise<string[]> {
  const merge = await mergeTrees(repository, one, other);
  return "failed" in merge ? [] : merge.files;
}

/** The same tree with some files as their owner wants them. */
export async function withFiles(repository: string, tree: string, files: MergedFiles): Promise<string> {
  const folder = scratchFolder(repository);
  const options: GitOptions = {
    env: { GIT_INDEX_FILE: join(folder, "index") },
    settings: [["core.splitIndex", "false"]],
  };
  const run = async (args: string[], stdin?: string): Promise<string> => {
    const { ok, stdout, stderr } = await git(repository, args, {
      ...options,
      ...(stdin !== undefined && { stdin }),
    });
    if (!ok) throw new Error(`git ${args[0]}: ${stderr.trim()}`);
    return stdout.trim();
  };
  try {
    const own = Object.entries(files).map(([path, text], at) => ({ path, text, at: join(folder, `${at}`) }));
    for (const { text, at } of own) writeFileSync(at, text);
    const [, ids] = await Promise.all([
      run(["read-tree", tree]),
      run(["hash-object", "-w", "--no-filters", "--stdin-paths"], own.map(({ at }) => at).join("\n")),
    ]);
    const entries = ids.split("\n").map((id, at) => `100644 ${id}\t${own[at]?.path}\0`);
    await run(["update-index", "-z", "--index-info"], entries.join(""));
    return await run(["write-tree"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a commit says that ralph makes; of several stories, each on a line. */
export function landingMessage(title: string, run: string, stories: DoneStory[] = []): string {
  const list = stories.length < 2 ? [] : [stories.map((one) => `- ${one.id}: ${one.title}`).join("\n")];
  return [title, ...list, `Ralph-Run: ${run}\n`].join("\n\n");
}

export interface DoneStory {
  id: string;
  title: string;
}

/** Makes a commit and moves nothing. No hook runs, nothing is signed. */
export async function commitTree(
  repository: string,
  { tree, parents, message }: { tree: string; parents: string[]; message: string },
): Promise<string | Impossible> {
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent])];
  const asUser = await git(repository, args, { stdin: message });
  const { ok, stdout, stderr } = asUser.ok
    ? asUser
    : await git(repository, [...SOMEBODY, ...args], { stdin: message });
  return ok ? stdout.trim() : { failed: saidBy(stderr) };
}

const MAX_DIFF_BYTES = 64 * 1024;

/** What both sides did to the files in which they conflict. */
export async function bothDiffs(repository: string, { base, target, tip }: Sides, files: string[]) {
  const paths = files.map((file) => `:(top,literal)${file}`);
  const diff = async (to: string): Promise<string> => {
    const args = ["diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", base, to, "--"];
    return (await git(repository, [...args, ...paths], { maxBytes: MAX_DIFF_BYTES })).stdout;
  };
  return { target: await diff(target), tip: await diff(tip) };
}

/** Where two commits met last; undefined: they have nothing in common. */
export async function mergeBase(repository: string, one: string, other: string): Promise<string | undefined> {
  const { ok, stdout } = await git(repository, ["merge-base", one, other]);
  return ok ? stdout.trim() : undefined;
}

/** Whether everything of a commit is in another one. */
export async function isPartOf(repository: string, commit: string, whole: string): Promise<boolean> {
  return (await git(repository, ["merge-base", "--is-ancestor", commit, whole])).ok;
}

/** The commit of that name; undefined: there is none. */
export async function commitOf(repository: string, name: string): Promise<string | undefined> {
  const known = looseCommit(repository, name);
  if (known !== undefined) return known;
  const { ok, stdout } = await git(repository, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`]);
  return ok ? stdout.trim() : undefined;
}

/** What git said, as a part of a message. */
export function saidBy(stderr: string): string {
  return oneLine(stderr, " ") || "git failed";
}
