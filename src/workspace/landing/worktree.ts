import { lstatSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders } from "../../records/files.js";
import { type Git, git } from "../git.js";
import { removeLeftLocks } from "../left-locks.js";
import { isRecorded, LANES, ownGit, ownRecords } from "../worktree/worktree.js";
import { type Impossible, saidBy } from "./merge.js";

/** Whatever the user's settings are: only the files of the commit are written. */
const PLAINLY = ["-c", "submodule.recurse=false", "-c", "advice.detachedHead=false"];

/**
 * A checkout of ralph's own, on no branch, that holds exactly that commit. Made when it is not there; ignored files,
 * such as what a setup has installed, stay.
 */
export async function holdCommit(
  repository: string,
  path: string,
  commit: string,
): Promise<undefined | Impossible> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    makeFolders(dirname(path));
    const args = ["worktree", "add", "--quiet", "--detach", "--force", "--no-checkout", path, commit];
    const made = await git(repository, [...PLAINLY, ...args]);
    if (!made.ok) return { failed: `cannot create the worktree ${path}: ${saidBy(made.stderr)}` };
  }
  const records = ownRecords(path, repository);
  if (records === undefined) return { failed: `${path} is taken: it is not a worktree that ralph made` };
  // A git that was killed leaves them.
  removeLeftLocks([records], 0);
  const inTree: Git = ownGit(path, undefined);
  for (const args of [
    ["checkout", "--quiet", "--force", "--detach", commit],
    ["clean", "--quiet", "-ffd"],
  ]) {
    const { ok, stderr } = await inTree([...PLAINLY, ...args]);
    if (!ok) return { failed: `cannot check out ${commit} in ${path}: ${saidBy(stderr)}` };
  }
  return undefined;
}

/** Takes away a checkout of ralph's own, which holds no work, and the folder around it if it was the last one there. */
export async function removeOwnWorktree(repository: string, path: string): Promise<boolean> {
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!isThere && !isRecorded(repository, path)) return true;
  if (isThere && ownRecords(path, repository) === undefined) return false;
  // Twice: a git that was killed while it made the worktree leaves it locked.
  const { ok } = await git(repository, ["worktree", "remove", "--force", "--force", path]);
  removeEmptyAbove(path);
  return ok;
}

/** The folders of worktrees go with the last of them: that of the lanes of a run, and that of the repository. */
export function removeEmptyAbove(worktree: string): void {
  const above = dirname(worktree);
  removeIfEmpty(above);
  if (above.endsWith(LANES)) removeIfEmpty(dirname(above));
}

export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not there, or other worktrees are in it.
  }
}
