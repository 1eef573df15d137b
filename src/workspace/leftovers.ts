import type { Captured } from "../process/capture.js";
import { followHead, leaveOtherBranch } from "./follow-head.js";
import { notIgnored } from "./included.js";
import { dirtySubmodules, stagedRepositories } from "./inner.js";
import { type Git, ownGit, ownRecords } from "./own-git.js";
import { RUNTIME_FILES } from "./runtime.js";
import { setAsideLocks } from "./stale-locks.js";
import { branchOf } from "./worktree.js";

const SOMEBODY = ["-c", "user.name=ralph", "-c", "user.email=ralph@localhost"];

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
  const inTree = ownGit(path, stop);
  const records = await ownRecords(path, origin, inTree);
  if (records === undefined) return told(path, false, [stop?.aborted ? INTERRUPTED : NO_WORKTREE]);
  const first = await commitLeftovers(inTree, worktree);
  const isLocked = first.failures.length > 0 && !stop?.aborted && (await setAsideLocks(records));
  const last = isLocked ? await commitLeftovers(inTree, worktree) : first;
  const failures = [...last.failures, ...(await uncommitted(inTree))];
  const notOnBranch = await followHead(inTree, branchOf(path));
  return told(path, first.found || last.found, stop?.aborted ? [INTERRUPTED] : failures, notOnBranch);
}

const INTERRUPTED = "interrupted before all was committed";
const NO_WORKTREE = "its .git is gone, or is not the one that ralph made";

function told(path: string, found: boolean, failures: string[], notOnBranch?: string): Leftovers {
  const left = failures.length === 0 ? [] : [`work is left uncommitted in ${path}: ${failures.join("; ")}`];
  const all = [...left, ...(notOnBranch === undefined ? [] : [notOnBranch])];
  return { found, ...(all.length > 0 && { failure: all.join("; ").replace(/\s*\n\s*/g, " ") }) };
}

async function uncommitted(inTree: Git): Promise<string[]> {
  const dirty = await dirtySubmodules(inTree);
  return dirty.length === 0 ? [] : [`changes in submodules: ${dirty.join(", ")}`];
}

interface Committed {
  found: boolean;
  failures: string[];
}

/** Commits what an agent left uncommitted, but no runtime files and none of the copied. */
async function commitLeftovers(inTree: Git, { path, message, copied }: Unsettled): Promise<Committed> {
  const added = await addAll(inTree, copied);
  // An agent may have staged them.
  const cleared = await unstage(inTree, [...RUNTIME, ...copied.map(literal)]);
  const inner = await stagedRepositories(inTree);
  const split = inner.length === 0 ? cleared : await unstage(inTree, inner.map(literal));
  const failures = [...saidBy(added), ...inner.map((folder) => `${folder} is a repository of its own`)];
  // What must stay out may still be in.
  if (!cleared.ok || !split.ok) return { found: false, failures: [...saidBy(cleared), ...saidBy(split)] };
  const { ok: isEmpty } = await inTree(["diff", "--cached", "--quiet", "--ignore-submodules=none"]);
  if (isEmpty) return { found: false, failures };
  return { found: true, failures: [...(await commit(inTree, branchOf(path), message)), ...failures] };
}

const RUNTIME = RUNTIME_FILES.flatMap((file) => [file, `${file}/**`]).map((file) => `glob)**/${file}`);
const literal = (file: string): string => `literal)${file}`;

async function addAll(inTree: Git, copied: string[]): Promise<Captured> {
  // Ignored files are not added anyway, and git complains when they are named.
  const inTheWay = await notIgnored(inTree, copied);
  const all = [".", ...[...RUNTIME, ...inTheWay.map(literal)].map((pattern) => `:(exclude,${pattern}`)];
  return withPaths(inTree, ["add", "--all", "--sparse", "--ignore-errors"], all);
}

function unstage(inTree: Git, patterns: string[]): Promise<Captured> {
  return withPaths(
    inTree,
    ["reset", "--quiet"],
    patterns.map((pattern) => `:(${pattern}`),
  );
}

function withPaths(inTree: Git, args: string[], paths: string[]): Promise<Captured> {
  const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  return inTree([...args, ...from], { stdin: paths.map((one) => `${one}\0`).join("") });
}

async function commit(inTree: Git, branch: string, message: string): Promise<string[]> {
  const inTheWay = await leaveOtherBranch(inTree, branch);
  if (inTheWay !== undefined) return [inTheWay];
  const args = ["commit", "--quiet", "--no-verify", "--message", message];
  const asUser = await inTree(args);
  return saidBy(asUser.ok ? asUser : await inTree([...SOMEBODY, ...args]));
}

/** Nothing where all went well. */
function saidBy({ ok, stderr, stdout, spawnError }: Captured): string[] {
  return ok ? [] : [(stderr || stdout || spawnError?.message || "git failed").trim()];
}
