import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { statOf, textAt } from "../content.js";
import { type GitOptions, git, gitFolders, namesIn, someOf } from "../git.js";
import { readIndex, withIndexCopy } from "../index-file.js";
import { unfinished } from "../start.js";
import { saidBy } from "./merge.js";

/** Why a branch that somebody has checked out cannot be brought along. */
export interface InTheWay {
  checkout: string;
  files: string[];
  said: string;
}

/** The checkout in which a branch is, if it is in one; `busy`: why nobody should move the branch. */
interface CheckedOut {
  path: string;
  busy?: string;
}

/** Full name of a branch → the checkout that has it. */
async function checkoutOf(repository: string, target: string): Promise<CheckedOut | undefined> {
  const { stdout } = await git(repository, ["worktree", "list", "--porcelain", "-z"]);
  for (const entry of stdout.split("\0\0")) {
    const fields = entry.split("\0").filter(Boolean);
    const path = fields[0]?.replace(/^worktree /, "") ?? "";
    if (fields.includes("bare")) continue;
    if (fields.includes(`branch ${target}`)) {
      if (existsSync(path)) return { path };
      return { path, busy: "its folder is not there: mount it, or run git worktree prune" };
    }
    if (existsSync(path) && isRebased(path, target))
      return { path, busy: "a rebase of it is under way there" };
  }
  return undefined;
}

/** While a branch is rebased, no checkout is on it. */
function isRebased(path: string, target: string): boolean {
  const records = gitFolders(path).at(-1) ?? "";
  return ["rebase-merge", "rebase-apply"].some(
    (folder) => textAt(join(records, folder, "head-name"))?.trim() === target,
  );
}

interface Move {
  repository: string;
  /** Full name of the branch. */
  target: string;
  old: string;
  new: string;
}

/** What keeps the checkout of a branch from being brought along, before anything is done; undefined: nothing. */
export async function inTheWay(move: Move): Promise<InTheWay | undefined> {
  const there = await checkoutOf(move.repository, move.target);
  if (there === undefined) return undefined;
  const { path: checkout, busy = await unfinished(there.path) } = there;
  if (busy !== undefined) return { checkout, files: [], said: busy };
  const files = await occupied(checkout, move);
  if (files.length === 0) return undefined;
  return { checkout, files, said: `${someOf(files)} would be overwritten` };
}

/** Files that the move would write, and that hold something that is not committed. */
async function occupied(checkout: string, { old, new: commit }: Move): Promise<string[]> {
  const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", old, commit];
  const fields = namesIn((await git(checkout, args)).stdout);
  const pairs = fields.flatMap((field, at) => (at % 2 === 0 ? [[field, fields[at + 1] ?? ""] as const] : []));
  const removed = new Set(pairs.filter(([how]) => how === "D").map(([, file]) => file));
  const taken = pairs
    .filter(([how, file]) => how === "A" && isTaken(checkout, file, removed))
    .map(([, file]) => file);
  const { flagged } = await readIndex((more, options) => git(checkout, more, options));
  // A file that a sparse checkout leaves out is not there, and is not changed.
  const hidden = flagged.filter((file) => statOf(join(checkout, file)));
  const dirty = await withIndexCopy(checkout, hidden, async (copy) => {
    const run = (more: string[], options: GitOptions = {}) => git(checkout, more, { ...options, ...copy });
    await run(["update-index", "-q", "--refresh"]);
    return namesIn(
      (await run(["diff-index", "-z", "--name-only", "--ignore-submodules=all", "HEAD"])).stdout,
    );
  });
  const written = new Set(pairs.map(([, file]) => file));
  return [...new Set([...taken, ...(dirty ?? []).filter((file) => written.has(file))])];
}

/** Whether something that git does not know stands where a new file is to be: the file itself, or one in place of its folder. */
function isTaken(checkout: string, file: string, removed: Set<string>): boolean {
  for (let path = file; path !== "."; path = dirname(path)) {
    const stat = statOf(join(checkout, path));
    if (stat === undefined) continue;
    if (path !== file) return !stat.isDirectory() && !removed.has(path);
    // A folder of files that are to be removed makes room.
    return !(stat.isDirectory() && [...removed].some((one) => one.startsWith(`${file}/`)));
  }
  return false;
}

/** `moved`: somebody else was quicker. */
type Moved =
  | { kind: "done" }
  | { kind: "moved" }
  | ({ kind: "in_the_way" } & InTheWay)
  | { kind: "failed"; said: string };

/**
 * Moves a branch from one commit to the next, if it is still there. Where it is checked out, the checkout is brought
 * along: git writes files first, refuses to overwrite anything, and moves the branch last.
 */
export async function moveBranch(move: Move): Promise<Moved> {
  const { repository, target, old, new: commit } = move;
  const blocked = await inTheWay(move);
  if (blocked !== undefined) return { kind: "in_the_way", ...blocked };
  const there = await checkoutOf(repository, target);
  if (there === undefined) {
    const args = ["update-ref", "-m", "ralph: landed", target, commit, old];
    const { ok, stderr } = await git(repository, args);
    if (ok) return { kind: "done" };
    const now = await git(repository, ["rev-parse", "--verify", "--quiet", target]);
    if (now.stdout.trim() !== old) return { kind: "moved" };
    return { kind: "failed", said: saidBy(stderr) };
  }
  const head = (await git(there.path, ["rev-parse", "--verify", "--quiet", "HEAD"])).stdout.trim();
  if (head !== old) return { kind: "moved" };
  const args = ["merge", "--ff-only", "--quiet", "--no-autostash", "--no-verify-signatures"];
  const { ok, stderr } = await git(there.path, [...args, "--no-overwrite-ignore", commit], {
    settings: [["submodule.recurse", "false"]],
  });
  if (ok) return { kind: "done" };
  const now = (await git(there.path, ["rev-parse", "--verify", "--quiet", "HEAD"])).stdout.trim();
  if (now !== old) return { kind: "moved" };
  return { kind: "in_the_way", checkout: there.path, files: [], said: saidBy(stderr) };
}
