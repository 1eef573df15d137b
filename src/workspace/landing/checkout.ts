import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolders } from "../../records/files.js";
import { statOf, textAt } from "../content.js";
import { type Git, type GitOptions, git, gitFolders, namesIn, nulEnded, pairsIn, someOf } from "../git.js";
import { readIndex, withIndexCopy } from "../index-file.js";
import { removeLeftLocks } from "../left-locks.js";
import { unfinished } from "../start.js";
import { checkoutsOf, isRecorded, LANES, ownGit, ownRecords } from "../worktree/worktree.js";
import { type Impossible, saidBy } from "./merge.js";

/** Why a branch cannot be moved now, or the checkout that has it cannot be brought along. */
export interface InTheWay {
  /** undefined: the branch is not checked out. */
  checkout?: string | undefined;
  files: string[];
  said: string;
}

/** The checkout in which a branch is, if it is in one; `busy`: why nobody should move the branch. */
interface BranchCheckout {
  path: string;
  busy?: string | undefined;
}

/** Full name of a branch → the checkout that has it. */
export async function checkoutOf(repository: string, target: string): Promise<BranchCheckout | undefined> {
  if (isNowhere(repository, target)) return undefined;
  const found: BranchCheckout[] = [];
  for (const { path, branch } of await checkoutsOf(repository)) {
    if (branch === target) {
      const isThere = existsSync(path);
      const busy = isThere ? undefined : "its folder is missing: mount it, or run git worktree prune";
      found.push({ path, busy });
    } else if (existsSync(path) && isRebased(gitFolders(path).at(-1) ?? "", target))
      found.push({ path, busy: "a rebase of it is under way there: finish or abort it" });
  }
  const [first, second] = found;
  return second === undefined
    ? first
    : { ...second, busy: `in ${first?.path}, too: leave it in one of them` };
}

/** Whether git's files say of every checkout that it is elsewhere; else git has to be asked. */
function isNowhere(repository: string, target: string): boolean {
  const [common = ""] = gitFolders(repository);
  const all = join(common, "worktrees");
  const others = existsSync(all) ? readdirSync(all).map((name) => join(all, name)) : [];
  return [common, ...others].every((records) => {
    const file = join(records, "HEAD");
    // Old versions of git make a link to the branch.
    const head = statOf(file)?.isFile() ? textAt(file) : undefined;
    const isClear = /^(?:ref: refs\/heads\/(?!\.invalid\n)|[0-9a-f]{40,64}\n$)/.test(head ?? "");
    return isClear && head !== `ref: ${target}\n` && !isRebased(records, target);
  });
}

/** While a branch is rebased, no checkout is on it. */
function isRebased(records: string, target: string): boolean {
  return ["rebase-merge", "rebase-apply"].some(
    (folder) => textAt(join(records, folder, "head-name"))?.trim() === target,
  );
}

interface BranchMove {
  repository: string;
  /** Full name of the branch. */
  target: string;
  old: string;
  new: string;
}

/** What keeps the branch from being moved, and its checkout from being brought along, before anything is done; undefined: nothing. */
export async function inTheWay(
  move: BranchMove,
  there = checkoutOf(move.repository, move.target),
): Promise<InTheWay | undefined> {
  const { path: checkout, busy } = (await there) ?? {};
  const said = busy ?? lockedIn(checkout ?? move.repository, move.target, checkout !== undefined);
  if (checkout === undefined) return said === undefined ? undefined : { files: [], said };
  const why = said ?? (await unfinished(checkout));
  if (why !== undefined) return { checkout, files: [], said: why };
  const files = await occupied(checkout, move);
  if (files.length === 0) return undefined;
  return { checkout, files, said: `${someOf(files)} would be overwritten` };
}

/** Where git finds a lock, it fails, and it may have written files before it does. */
function lockedIn(folder: string, target: string, isCheckedOut: boolean): string | undefined {
  const [common = "", own = common] = gitFolders(folder);
  const locks = [join(common, `${target}.lock`)];
  if (isCheckedOut) locks.push(join(own, "index.lock"), join(own, "HEAD.lock"));
  const lock = locks.find((file) => existsSync(file));
  return lock && `git is at work there: wait, or remove ${lock} if no git is running`;
}

/** The files that a move writes: added (A), removed (D), and changed in one way or another. */
async function writtenBy(
  checkout: string,
  { old, new: commit }: BranchMove,
): Promise<[how: string, file: string][]> {
  const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", old, commit];
  return pairsIn((await git(checkout, args)).stdout);
}

/** Files that the move would write, and that hold something that is not committed. */
async function occupied(checkout: string, move: BranchMove): Promise<string[]> {
  const pairs = await writtenBy(checkout, move);
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
    // A folder makes room when all of its files are to be removed.
    return !(stat.isDirectory() && filesBelow(checkout, file).every((one) => removed.has(one)));
  }
  return false;
}

function filesBelow(checkout: string, folder: string): string[] {
  const paths = readdirSync(join(checkout, folder), { recursive: true }).map((name) =>
    join(folder, String(name)),
  );
  return paths.filter((path) => !statOf(join(checkout, path))?.isDirectory());
}

/** `moved`: somebody else was quicker. */
type BranchOutcome =
  | { kind: "done" }
  | { kind: "moved" }
  | ({ kind: "in_the_way" } & InTheWay)
  | { kind: "failed"; said: string };

/**
 * Moves a branch from one commit to the next, if it is still there. Where it is checked out, the checkout is brought
 * along: git writes files first, refuses to overwrite anything, and moves the branch last.
 */
export async function moveBranch(move: BranchMove): Promise<BranchOutcome> {
  const { repository, target, old, new: commit } = move;
  const found = checkoutOf(repository, target);
  const blocked = await inTheWay(move, found);
  if (blocked !== undefined) return { kind: "in_the_way", ...blocked };
  const there = await found;
  if (there === undefined) {
    const args = ["update-ref", "-m", "ralph: landed", target, commit, old];
    const { ok, stderr } = await git(repository, args);
    if (ok) return { kind: "done" };
    const now = await git(repository, ["rev-parse", "--verify", "--quiet", target]);
    if (now.stdout.trim() !== old) return { kind: "moved" };
    return { kind: "failed", said: saidBy(stderr) };
  }
  const headNow = async (): Promise<string> =>
    (await git(there.path, ["rev-parse", "--verify", "--quiet", "HEAD"])).stdout.trim();
  if ((await headNow()) !== old) return { kind: "moved" };
  const args = ["merge", "--ff-only", "--no-squash", "--quiet", "--no-autostash", "--no-verify-signatures"];
  const { stderr } = await git(there.path, [...args, "--no-overwrite-ignore", commit], {
    settings: [["submodule.recurse", "false"]],
  });
  const now = await headNow();
  if (now === commit) return { kind: "done" };
  if (now !== old) return { kind: "moved" };
  await putBack(there.path, move);
  return { kind: "in_the_way", checkout: there.path, files: [], said: saidBy(stderr) };
}

/** git may have written some of the files before it failed: those hold what is in the new commit. */
async function putBack(checkout: string, move: BranchMove): Promise<void> {
  const pairs = await writtenBy(checkout, move);
  const run = (args: string[], options: GitOptions = {}) => git(checkout, args, options);
  // Changes nothing where git had not come as far as the index.
  await run(["read-tree", "-m", move.new, move.old]);
  const others = await withIndexCopy(checkout, [], async (copy) => {
    await run(["read-tree", "--reset", move.new], copy);
    await run(["update-index", "-q", "--refresh"], copy);
    return namesIn((await run(["diff-files", "-z", "--name-only", "--ignore-submodules=all"], copy)).stdout);
  });
  if (others === undefined) return;
  const isThere = (file: string): boolean => statOf(join(checkout, file)) !== undefined;
  for (const [how, file] of pairs)
    if (how === "A" && isThere(file) && !others.includes(file)) {
      rmSync(join(checkout, file));
      for (let above = dirname(file); above !== "."; above = dirname(above))
        removeIfEmpty(join(checkout, above));
    }
  const back = pairs.filter(
    ([how, file]) => how !== "A" && (!isThere(file) || (how !== "D" && !others.includes(file))),
  );
  await run(["checkout-index", "--force", "--index", "-z", "--stdin"], {
    stdin: nulEnded(back.map(([, file]) => file)),
  });
}

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

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not there, or other worktrees are in it.
  }
}
