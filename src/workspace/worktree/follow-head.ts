import type { Git } from "./own-git.js";

/** Commits go onto the run's own branch, or onto none: those of the user are not moved. */
export async function leaveOtherBranch(inTree: Git, branch: string): Promise<string | undefined> {
  const current = (await inTree(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim();
  const head = await commitOf(inTree, "HEAD");
  if (current === "" || head === "" || current === `refs/heads/${branch}`) return undefined;
  // Unlike `git checkout --detach` it keeps a merge that has begun.
  const { ok, stderr } = await inTree(["update-ref", "--no-deref", "HEAD", head, head]);
  return ok ? undefined : `cannot leave ${current.replace("refs/heads/", "the branch ")}: ${stderr.trim()}`;
}

/**
 * An agent may have gone on to a branch of its own: the worktree's branch follows, so that merging it brings
 * all of the work. Returns what is wrong where that would take more than moving forward.
 */
export async function followHead(inTree: Git, branch: string): Promise<string | undefined> {
  const name = `refs/heads/${branch}`;
  const current = (await inTree(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim();
  const [head, own] = [await commitOf(inTree, "HEAD"), await commitOf(inTree, name)];
  if (head === "" || (await isPartOf(inTree, head, own))) return undefined;
  const isBehind = own === "" || (await isPartOf(inTree, own, head));
  if (isBehind && (await inTree(["update-ref", name, head, own])).ok) return undefined;
  const where = current === "" ? `commit ${head}` : `the branch ${current.replace("refs/heads/", "")}`;
  return `${branch} does not hold all of the work: merge ${where} instead`;
}

/** Empty: there is none. */
async function commitOf(inTree: Git, name: string): Promise<string> {
  return (await inTree(["rev-parse", "--verify", "--quiet", name])).stdout.trim();
}

async function isPartOf(inTree: Git, commit: string, whole: string): Promise<boolean> {
  return whole !== "" && (await inTree(["merge-base", "--is-ancestor", commit, whole])).ok;
}
