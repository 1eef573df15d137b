import { SOMEBODY } from "../workspace/git.js";
import { ownGit } from "../workspace/worktree/worktree.js";

/**
 * Brings what others pushed into the worktree of a run; `before` is the tip that ralph knew, `now` the one that is
 * there. `rewritten`: what ralph pushed is not part of it. `conflict`: both sides changed the same.
 */
export async function takeOver(
  worktree: string,
  before: string,
  now: string,
): Promise<"taken" | "rewritten" | "conflict" | "blocked"> {
  const inTree = ownGit(worktree, undefined);
  if (!(await inTree(["merge-base", "--is-ancestor", before, now])).ok) return "rewritten";
  if ((await inTree(["merge-base", "--is-ancestor", now, "HEAD"])).ok) return "taken";
  if ((await inTree(["merge", "--quiet", "--ff-only", now])).ok) return "taken";
  if ((await inTree([...SOMEBODY, "merge", "--quiet", "--no-edit", now])).ok) return "taken";
  // Nothing is begun where files are in the way.
  return (await inTree(["merge", "--abort"])).ok ? "conflict" : "blocked";
}

/**
 * The tip of the branch, with what was pushed before as a part of it. An agent that rewrote commits has made a history
 * without it: a merge that changes no file ties it in, so that nothing that was pushed is overwritten.
 */
export async function tiedIn(worktree: string, branch: string, before: string): Promise<string> {
  const inTree = ownGit(worktree, undefined);
  const tip = (await inTree(["rev-parse", "--verify", `refs/heads/${branch}`])).stdout.trim();
  if ((await inTree(["merge-base", "--is-ancestor", before, tip])).ok) return tip;
  const message = "Keep what was pushed before";
  const args = ["commit-tree", `${tip}^{tree}`, "-p", tip, "-p", before, "-m", message];
  const tied = (await inTree([...SOMEBODY, ...args])).stdout.trim();
  await inTree(["update-ref", `refs/heads/${branch}`, tied, tip]);
  return tied;
}
