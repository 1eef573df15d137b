import { existsSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../workspace/git.js";
import { checkoutOf, removeEmptyAbove } from "../../workspace/landing/checkout.js";
import { saidBy } from "../../workspace/landing/merge.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import { runTeardown } from "../../workspace/worktree/create.js";
import { ownGit, ownRecords } from "../../workspace/worktree/worktree.js";

interface Removal {
  repository: string;
  /** Short name. */
  branch: string;
  /** The commit that the branch must still be at; undefined: leave the branch alone. */
  tip: string | undefined;
  worktree: string | undefined;
  /** The folder in it that the run worked in, and the number that it had. */
  inside: string;
  slot: number | undefined;
  /** Untracked files that ralph copied into it. */
  copied: string[];
  teardown: string | undefined;
  tell(text: string): void;
}

/** Removes a worktree and its branch, whose work is safe elsewhere. Returns why it left something, if it did. */
export async function removeLanded(removal: Removal): Promise<string | undefined> {
  const { repository, branch, tip, worktree } = removal;
  const left = worktree === undefined ? undefined : await removeWorktree(removal, worktree);
  return left === undefined && tip !== undefined ? removeBranch(repository, branch, tip) : left;
}

/** Returns why it left the branch, if it did: one that has moved since holds something new. */
export async function removeBranch(
  repository: string,
  branch: string,
  tip: string,
): Promise<string | undefined> {
  const there = await checkoutOf(repository, `refs/heads/${branch}`);
  if (there !== undefined) return `kept the branch ${branch}: it is checked out in ${there.path}`;
  const { ok, stderr } = await git(repository, ["update-ref", "-d", `refs/heads/${branch}`, tip]);
  return ok ? undefined : `kept the branch ${branch}: ${saidBy(stderr)}`;
}

async function removeWorktree(removal: Removal, path: string): Promise<string | undefined> {
  const { repository, branch, tip, inside, slot, copied, teardown: command, tell } = removal;
  if (!existsSync(path)) {
    await git(repository, ["worktree", "prune"]);
    return undefined;
  }
  if (ownRecords(path, repository) === undefined)
    return `the worktree ${path} was kept: it is not the one that ralph made`;
  const isCopy = (file: string): boolean => copied.some((copy) => copy === file || copy.startsWith(file));
  const files = ((await uncommittedFiles(path)) ?? [path]).filter((file) => !isCopy(file));
  if (files.length > 0) return `the worktree ${path} was kept: it holds changes that are not committed`;
  const head = await ownGit(path, undefined)(["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (tip !== undefined && head.stdout.trim() !== tip)
    return `the worktree ${path} was kept: what is checked out there is not ${branch}`;
  await runTeardown(join(path, inside), { command, slot, tell });
  const removed = await git(repository, ["worktree", "remove", "--force", path]);
  if (!removed.ok) return `the worktree ${path} was kept: ${removed.stderr.trim()}`;
  removeEmptyAbove(path);
  return undefined;
}
