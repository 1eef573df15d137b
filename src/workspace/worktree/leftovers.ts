import type { Capture } from "../../process/run.js";
import { type Git, looseCommit, SOMEBODY, someOf } from "../git.js";
import { indexState } from "../index-file.js";
import { removeLeftLocks } from "../left-locks.js";
import { RUNTIME_FILES } from "../runtime.js";
import { dirtySubmodules, stage, unstage } from "../stage.js";
import { unfinished } from "../start.js";
import { uncommittedFiles } from "../uncommitted.js";
import { branchOf, notIgnored, ownGit, ownRecords } from "./worktree.js";

interface Settlement {
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
export async function settleWorktree(worktree: Settlement): Promise<Leftovers> {
  const { path, origin, stop } = worktree;
  const [inTree, branch] = [ownGit(path, stop), branchOf(path)];
  const records = ownRecords(path, origin);
  if (records === undefined) return leftoversOf(path, false, [NO_WORKTREE]);
  const halfDone = await unfinished(path);
  if (halfDone !== undefined) return leftoversOf(path, false, [halfDone]);
  // Most agents commit all that they do: then there is nothing to stage.
  const isClean = (await inTree(STAGED)).ok && (await uncommitted(worktree, NOTHING_LEFT)).length === 0;
  const first = isClean ? NOTHING_LEFT : await commitLeftovers(inTree, branch, worktree);
  const isTriedAgain =
    first.failures.length > 0 && !stop?.aborted && removeLeftLocks([records], 0).removed.length > 0;
  const last = isTriedAgain ? await commitLeftovers(inTree, branch, worktree) : first;
  const left = isClean ? [] : await uncommitted(worktree, last);
  const failures = [...last.failures, ...left];
  const notOnBranch = await followHead(inTree, path, branch);
  return leftoversOf(path, first.found || last.found, stop?.aborted ? [INTERRUPTED] : failures, notOnBranch);
}

/** Fails where something is staged. */
const STAGED = ["diff", "--cached", "--quiet", "--ignore-submodules=none"];
const NOTHING_LEFT: CommitResult = { found: false, failures: [], inner: [] };
const INTERRUPTED = "interrupted before all was committed";
const NO_WORKTREE = "its .git is gone, or is not the one that ralph made";

function leftoversOf(path: string, found: boolean, failures: string[], notOnBranch?: string): Leftovers {
  const left = failures.length === 0 ? [] : [`work is left uncommitted in ${path}: ${failures.join("; ")}`];
  const all = [...left, ...(notOnBranch === undefined ? [] : [notOnBranch])];
  return { found, ...(all.length > 0 && { failure: all.join("; ").replace(/\s*\n\s*/g, " ") }) };
}

interface CommitResult {
  found: boolean;
  failures: string[];
  /** Repositories that the agent made. */
  inner: string[];
}

const RUNTIME = RUNTIME_FILES.flatMap((file) => [file, `${file}/**`]).map((file) => `glob)**/${file}`);
const literal = (file: string): string => `literal)${file}`;

/** Commits what an agent left uncommitted, but no runtime files and none of the copied ones. */
async function commitLeftovers(inTree: Git, branch: string, worktree: Settlement): Promise<CommitResult> {
  const { path, message, copied } = worktree;
  // Ignored files are not added anyway, and git complains when they are named.
  const kept = [...RUNTIME, ...(await notIgnored(inTree, copied)).map(literal)];
  const all = [".", ...kept.map((pattern) => `:(exclude,${pattern}`)];
  const added = await stage(path, all, { git: inTree, flags: ["--sparse", "--ignore-errors"] });
  // An agent may have staged them.
  const cleared = await unstage(
    inTree,
    [...RUNTIME, ...copied.map(literal)].map((pattern) => `:(${pattern}`),
  );
  const inner = added.inner.filter((folder) => !copied.some((file) => file.startsWith(`${folder}/`)));
  const failures = [...saidBy(added), ...inner.map((folder) => `${folder} is a repository of its own`)];
  // What must stay out may still be in.
  if (!cleared.ok) return { found: false, failures: saidBy(cleared), inner };
  const { ok: isEmpty } = await inTree(STAGED);
  if (isEmpty) return { found: false, failures, inner };
  const inTheWay = await leaveOtherBranch(inTree, branch);
  if (inTheWay !== undefined) return { found: true, failures: [inTheWay, ...failures], inner };
  const args = ["commit", "--quiet", "--no-verify", "--message", message];
  const asUser = await inTree(args);
  const committed = asUser.ok ? asUser : await inTree([...SOMEBODY, ...args]);
  return { found: true, failures: [...saidBy(committed), ...failures], inner };
}

/** Nothing where all went well. */
function saidBy({ ok, stderr, stdout, spawnError }: Capture): string[] {
  return ok ? [] : [(stderr || stdout || spawnError?.message || "git failed").trim()];
}

async function uncommitted(
  { path, copied }: Settlement,
  { failures, inner }: CommitResult,
): Promise<string[]> {
  const dirty = await dirtySubmodules(path, (await indexState(path)).links);
  const submodules = dirty.length === 0 ? [] : [`changes in submodules: ${dirty.join(", ")}`];
  if (failures.length > inner.length) return submodules;
  const known = [...inner.flatMap((folder) => [folder, `${folder}/`]), ...dirty];
  const isOwn = (file: string): boolean =>
    known.includes(file) || copied.some((copy) => copy === file || copy.startsWith(file));
  const files = ((await uncommittedFiles(path)) ?? []).filter((file) => !isOwn(file));
  if (files.length === 0) return submodules;
  return [...submodules, `${someOf(files)} (hidden from git since the run began)`];
}

/** Commits go onto the run's own branch, or onto none: those of the user are not moved. */
async function leaveOtherBranch(inTree: Git, branch: string): Promise<string | undefined> {
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
async function followHead(inTree: Git, path: string, branch: string): Promise<string | undefined> {
  const name = `refs/heads/${branch}`;
  const commit = async (one: string) => looseCommit(path, one) ?? (await commitOf(inTree, one));
  const [head, own] = await Promise.all([commit("HEAD"), commit(name)]);
  if (head === "" || (await isPartOf(inTree, head, own))) return undefined;
  const isBehind = own === "" || (await isPartOf(inTree, own, head));
  if (isBehind && (await inTree(["update-ref", name, head, own])).ok) return undefined;
  const current = (await inTree(["symbolic-ref", "--quiet", "HEAD"])).stdout.trim();
  const where = current === "" ? `commit ${head}` : `the branch ${current.replace("refs/heads/", "")}`;
  return `${branch} does not hold all of the work: merge ${where} instead`;
}

/** Empty: there is none. */
async function commitOf(inTree: Git, name: string): Promise<string> {
  return (await inTree(["rev-parse", "--verify", "--quiet", name])).stdout.trim();
}

async function isPartOf(inTree: Git, commit: string, whole: string): Promise<boolean> {
  if (commit === whole) return true;
  return whole !== "" && (await inTree(["merge-base", "--is-ancestor", commit, whole])).ok;
}
