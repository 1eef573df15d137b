import { dirtySubmodules } from "../inner-repositories.js";
import { removeLeftLocks } from "../left-locks.js";
import { uncommittedFiles } from "../uncommitted.js";
import { unfinished } from "../unfinished.js";
import { type Committed, commitLeftovers } from "./commit-leftovers.js";
import { followHead } from "./follow-head.js";
import { type Git, ownGit, ownRecords } from "./own-git.js";
import { branchOf } from "./worktree.js";

interface Unsettled {
  path: string;
  origin: string;
  message: string;
  /** What ralph copied into it stays out of the commit. */
  copied: string[];
  /** Aborted: what is not committed by then is left as it is. */
  stop?: AbortSignal | undefined;
}

interface Leftovers {
  /** Whether there was something to commit. */
  found: boolean;
  /** What is not on the branch, and why. */
  failure?: string;
}

/** Brings all that was done in a worktree onto its branch, and touches no other branch. */
export async function settleWorktree(worktree: Unsettled): Promise<Leftovers> {
  const { path, origin, stop } = worktree;
  const [inTree, branch] = [ownGit(path, stop), branchOf(path)];
  const records = await ownRecords(path, origin, inTree);
  if (records === undefined) return told(path, false, [stop?.aborted ? INTERRUPTED : NO_WORKTREE]);
  const halfDone = await unfinished(path);
  if (halfDone !== undefined) return told(path, false, [halfDone]);
  const first = await commitLeftovers(inTree, { ...worktree, branch });
  const isTriedAgain =
    first.failures.length > 0 && !stop?.aborted && removeLeftLocks([records], 0).removed.length > 0;
  const last = isTriedAgain ? await commitLeftovers(inTree, { ...worktree, branch }) : first;
  const failures = [...last.failures, ...(await uncommitted(worktree, inTree, last))];
  const notOnBranch = await followHead(inTree, branch);
  return told(path, first.found || last.found, stop?.aborted ? [INTERRUPTED] : failures, notOnBranch);
}

const INTERRUPTED = "interrupted before all was committed";
const NO_WORKTREE = "its .git is gone, or is not the one that ralph made";

function told(path: string, found: boolean, failures: string[], notOnBranch?: string): Leftovers {
  const left = failures.length === 0 ? [] : [`work is left uncommitted in ${path}: ${failures.join("; ")}`];
  const all = [...left, ...(notOnBranch === undefined ? [] : [notOnBranch])];
  return { found, ...(all.length > 0 && { failure: all.join("; ").replace(/\s*\n\s*/g, " ") }) };
}

async function uncommitted(
  { path, copied }: Unsettled,
  inTree: Git,
  { failures, inner }: Pick<Committed, "failures" | "inner">,
): Promise<string[]> {
  const dirty = await dirtySubmodules(path, inTree);
  const submodules = dirty.length === 0 ? [] : [`changes in submodules: ${dirty.join(", ")}`];
  if (failures.length > inner.length) return submodules;
  const known = [...inner.flatMap((folder) => [folder, `${folder}/`]), ...dirty];
  const isOwn = (file: string): boolean =>
    known.includes(file) || copied.some((copy) => copy === file || copy.startsWith(file));
  const files = ((await uncommittedFiles(path)) ?? []).filter((file) => !isOwn(file));
  const more = files.length > MAX_NAMES ? ` and ${files.length - MAX_NAMES} more` : "";
  const hidden = `${files.slice(0, MAX_NAMES).join(", ")}${more} (hidden from git since the run began)`;
  return files.length === 0 ? submodules : [...submodules, hidden];
}

const MAX_NAMES = 3;
