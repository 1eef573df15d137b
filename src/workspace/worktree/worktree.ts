import { existsSync, lstatSync, mkdirSync, rmdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { RalphError } from "../../errors.js";
import type { Captured } from "../../process/capture.js";
import { headCommit } from "../changes.js";
import { git, repositoryRoot } from "../git.js";
import { mainCheckout } from "./checkout.js";
import { copyIncluded, notIgnored } from "./included.js";
import { ownGit } from "./own-git.js";
import { isRegistered } from "./registered.js";
import { runSetup, type Setup } from "./setup.js";

/** A checkout of its own for a run, beside the repository, on a branch of its own. */
export interface Worktree {
  name: string;
  branch: string;
  /** Its top folder. */
  path: string;
  /** The folder in it that the run was started in. */
  workspace: string;
}

/** Where the worktree of that name is, or would be. */
export async function locateWorktree(origin: string, name: string): Promise<Worktree> {
  const root = await mainCheckout(origin);
  await refuseName(origin, name);
  const path = join(`${root}-worktrees`, name);
  const inside = relative(repositoryRoot(origin) ?? origin, origin);
  return { name, branch: branchOf(path), path, workspace: join(path, inside) };
}

/** The branch of the worktree in that folder. */
export function branchOf(path: string): string {
  return `ralph/${basename(path)}`;
}

/** What is in the way of a worktree of that name, if anything is. */
export async function takenBy(origin: string, { path, branch }: Worktree): Promise<string | undefined> {
  const there = await whatIsAt(origin, path);
  if (there !== undefined) return there;
  const { ok } = await git(origin, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]);
  return ok ? `the branch ${branch}` : undefined;
}

/** A worktree on a disk that is not mounted is there, too. */
async function whatIsAt(origin: string, path: string): Promise<string | undefined> {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  return (await isRegistered(origin, path)) ? `git's record of ${path}` : undefined;
}

/**
 * All or nothing: what cannot be made ready is taken away again. The user's checkout is not touched.
 * Returns the files that were copied into it.
 */
export async function createWorktree(origin: string, worktree: Worktree, setup: Setup): Promise<string[]> {
  const { path, branch } = worktree;
  if ((await headCommit(origin)) === undefined) {
    throw new RalphError("a worktree needs a commit, and this repository has none", {
      code: "no_commit",
      hint: "commit something first",
    });
  }
  // Of two who want the same name at the same moment, one gets the branch.
  const made = await git(origin, ["branch", "--no-track", branch, "HEAD"]);
  if (!made.ok) throw failed(`cannot make the branch ${branch}`, made.stderr);
  const isFree = (await whatIsAt(origin, path)) === undefined;
  try {
    if (!isFree) throw failed("cannot make the worktree", `${path} is taken`);
    const copied = await fill(origin, worktree, setup);
    if (setup.signal?.aborted) throw interrupted();
    return copied;
  } catch (error) {
    if (isFree) await takeAway(origin, path);
    await git(origin, ["branch", "--quiet", "-D", branch]);
    throw setup.signal?.aborted ? interrupted() : error;
  }
}

async function fill(origin: string, { path, branch, workspace }: Worktree, setup: Setup): Promise<string[]> {
  const { signal: stop, timeoutMs } = setup;
  const args = ["worktree", "add", "--quiet", path, branch];
  const added = await git(origin, args, { timeoutMs, hooks: true, ...(stop && { stop }) });
  if (!added.ok) throw failed("cannot make the worktree", whyNotAdded(added, path));
  const copied = await copyIncluded(repositoryRoot(origin) ?? origin, path);
  const loose = await notIgnored(ownGit(path, stop), copied);
  if (loose.length > 0) setup.tell(`warning: ${looseFiles(loose)}`);
  mkdirSync(workspace, { recursive: true });
  await runSetup(workspace, setup);
  return copied;
}

/** git leaves no worktree behind when it fails by itself. */
function whyNotAdded({ stderr, exitCode }: Captured, path: string): string {
  if (exitCode === null || !existsSync(join(path, ".git"))) return stderr;
  return `${stderr}\nthe hook post-checkout ended with exit ${exitCode}`;
}

function looseFiles(files: string[]): string {
  const more = files.length > 3 ? `, and ${files.length - 3} more` : "";
  return `copied into the worktree, but not ignored by git: ${files.slice(0, 3).join(", ")}${more}; ralph does not commit it`;
}

async function takeAway(origin: string, path: string): Promise<void> {
  // Twice: a git that was killed while it made the worktree leaves it locked.
  await git(origin, ["worktree", "remove", "--force", "--force", path]);
  try {
    rmdirSync(dirname(path));
  } catch {
    // Other worktrees are in it.
  }
}

/** Removes a worktree and its branch, if all of its work is in the checkout and nothing is left in it. */
export async function removeWorktree(origin: string, path: string): Promise<boolean> {
  const branch = branchOf(path);
  const head = await ownGit(path, undefined)(["rev-parse", "--verify", "--quiet", "HEAD"]);
  for (const commit of [branch, head.stdout.trim() || branch]) {
    if (!(await git(origin, ["merge-base", "--is-ancestor", commit, "HEAD"])).ok) return false;
  }
  if (!(await git(origin, ["worktree", "remove", path])).ok) return false;
  return (await git(origin, ["branch", "--quiet", "-d", branch])).ok;
}

const MAX_NAME_CHARS = 100;

async function refuseName(origin: string, name: string): Promise<void> {
  const { ok } = await git(origin, ["check-ref-format", `refs/heads/ralph/${name}`]);
  if (ok && /^\w[\w.-]*$/.test(name) && name.length <= MAX_NAME_CHARS) return;
  throw new RalphError(`--worktree ${JSON.stringify(name)}: not a name for a branch and a folder`, {
    code: "worktree_name",
    hint: `use letters, digits, dots, dashes and underscores, ${MAX_NAME_CHARS} at the most`,
  });
}

function failed(what: string, output: string): RalphError {
  const said = output
    .trim()
    .replace(/^(?:fatal|error): /, "")
    .replace(/\s*\n\s*/g, "; ");
  return new RalphError(said === "" ? what : `${what}: ${said}`, { code: "worktree_failed" });
}

function interrupted(): RalphError {
  return new RalphError("interrupted while the worktree was made ready; it was taken away again", {
    code: "interrupted",
    exitCode: 130,
  });
}
