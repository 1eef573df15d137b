import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { RalphError } from "../../errors.js";
import type { Capture } from "../../process/run.js";
import { realPlace } from "../../records/files.js";
import { textAt } from "../content.js";
import { type Git, git, gitFolders, namesIn, repositoryRoot } from "../git.js";

/** A checkout of its own for a run, beside the repository, on a branch of its own. */
export interface Worktree {
  name: string;
  branch: string;
  /** Its top folder. */
  path: string;
  /** The folder in it that the run was started in. */
  workspace: string;
}

const MAX_NAME_CHARS = 100;

/** Where the worktree of that name is, or would be. */
export async function locateWorktree(origin: string, name: string): Promise<Worktree> {
  const root = await mainCheckout(origin);
  const { ok } = await git(origin, ["check-ref-format", `refs/heads/ralph/${name}`]);
  if (!ok || !/^\w[\w.-]*$/.test(name) || name.length > MAX_NAME_CHARS)
    throw new RalphError(`--worktree ${JSON.stringify(name)}: not a name for a branch and a folder`, {
      code: "worktree_name",
      hint: `use at most ${MAX_NAME_CHARS} letters, digits, dots, dashes and underscores`,
    });
  const path = join(`${root}-worktrees`, name);
  const inside = relative(repositoryRoot(origin) ?? origin, origin);
  return { name, branch: branchOf(path), path, workspace: join(path, inside) };
}

/** The branch of the worktree in that folder. Those of the lanes of a run are below one that names the run. */
export function branchOf(path: string): string {
  const above = basename(dirname(path));
  return `ralph/${above.endsWith(LANES) ? `${above}/` : ""}${basename(path)}`;
}

/** Ends the name of the folder that holds the worktrees of a run's lanes. */
export const LANES = "-lanes";

/** The first checkout of the repository, also seen from one of its worktrees. */
async function mainCheckout(origin: string): Promise<string> {
  const { ok, stdout, stderr } = await git(origin, ["rev-parse", "--is-inside-work-tree"]);
  const root = repositoryRoot(origin);
  // git may have a reason of its own, such as a folder that belongs to another user.
  if (!ok && root !== undefined)
    throw unusable(`cannot use the repository of ${origin}: ${oneLine(stderr, " ")}`, "do what git says");
  if (!ok && !stderr.includes("safe.bareRepository"))
    throw unusable(`needs a git repository: ${origin}`, "run git init and commit something");
  const [common, own] = gitFolders(origin);
  if (stdout.trim() !== "true" || root === undefined || common === undefined)
    throw unusable(`needs a checkout, and this is not one: ${origin}`, "start it in a clone");
  if (own === undefined) return root;
  if (basename(common) === ".git") return dirname(common);
  // A bare repository has no checkout, and its name stands for it; a submodule keeps its records elsewhere.
  const said = await git(common, ["config", "--file", join(common, "config"), "core.worktree"]);
  return said.stdout === "" ? common.replace(/\.git$/, "") : resolve(common, said.stdout.trim());
}

function unusable(what: string, hint: string): RalphError {
  return new RalphError(`--worktree ${what}`, {
    code: "not_a_repository",
    hint: `${hint}, or leave --worktree out`,
  });
}

/** What git said, as a part of a message. */
export function oneLine(said: string, between: string): string {
  return said
    .trim()
    .replace(/^(?:fatal|error): /, "")
    .replace(/\s*\n\s*/g, between);
}

/** What is in the way of a worktree of that name, if anything is. */
export async function takenBy(origin: string, { path, branch }: Worktree): Promise<string | undefined> {
  const there = whatIsAt(origin, path);
  if (there !== undefined) return there;
  const { ok } = await git(origin, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]);
  return ok ? `the branch ${branch}` : undefined;
}

/** git cannot make a branch whose name begins with that of another one. `branch` may end with `*`. */
export async function requireFreeName(origin: string, branch: string): Promise<void> {
  const list = ["for-each-ref", "--format=%(refname:lstrip=2)", `refs/heads/${branch.split("/")[0]}`];
  const names = (await git(origin, list)).stdout.split("\n").filter(Boolean);
  const other = names.find((name) => branch.startsWith(`${name}/`) || name.startsWith(`${branch}/`));
  if (other === undefined) return;
  throw new RalphError(`git cannot create the branch ${branch} while there is a branch ${other}`, {
    code: "branch_taken",
    hint: `git branch -m ${other} NAME renames it`,
  });
}

/** A worktree on a disk that is not mounted is there, too: git knows of it. */
export function whatIsAt(origin: string, path: string): string | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  return isRecorded(origin, path) ? `git's record of ${path}` : undefined;
}

/** A checkout of a repository. */
interface Checkout {
  path: string;
  /** Full name; undefined: it is on no branch. */
  branch: string | undefined;
  commit: string;
}

/** All checkouts of the repository of a folder, as git lists them. */
export async function checkoutsOf(repository: string): Promise<Checkout[]> {
  const { stdout } = await git(repository, ["worktree", "list", "--porcelain", "-z"]);
  return stdout.split("\0\0").flatMap((entry) => {
    const fields = new Map(
      namesIn(entry).map((field) => [field.split(" ", 1)[0], field.replace(/^\S+ /, "")]),
    );
    const [path, commit = ""] = [fields.get("worktree"), fields.get("HEAD")];
    return path === undefined || fields.has("bare") ? [] : [{ path, branch: fields.get("branch"), commit }];
  });
}

/** Whether git has a record of a worktree in that folder, which need not be there. */
export function isRecorded(origin: string, path: string): boolean {
  const all = join(gitFolders(origin)[0] ?? "", "worktrees");
  const place = join(realPlace(path), ".git");
  const names = existsSync(all) ? readdirSync(all) : [];
  return names.some((name) => resolve(all, name, textAt(join(all, name, "gitdir"))?.trim() ?? "") === place);
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

/** Large files take their time. */
const COMMIT_MS = 30 * 60_000;

/** Work must not be lost to a hook, a line ending, or a key that nobody unlocks at night. */
const SAFELY = ["-c", "core.hooksPath=/dev/null", "-c", "core.safecrlf=false", "-c", "commit.gpgSign=false"];

const EXIT = { exitCode: null, signal: null, durationMs: 0, timedOut: false };
const NOT_STARTED: Capture = { ...EXIT, ok: false, stdout: "", stderr: "interrupted" };

/** git in a run's own worktree, and never in a repository around it. */
export function ownGit(path: string, stop: AbortSignal | undefined): Git {
  const env = { GIT_CEILING_DIRECTORIES: dirname(path) };
  const usual = { env, timeoutMs: COMMIT_MS, ...(stop && { stop }) };
  return async (args, options) =>
    // A quick git would be done before it is ended.
    stop?.aborted ? NOT_STARTED : git(path, [...SAFELY, ...args], { ...usual, ...options });
}

/** The folder of git's records of that worktree alone; undefined: it is not a worktree of the origin any more. */
export function ownRecords(path: string, origin: string): string | undefined {
  const [common, own] = gitFolders(path);
  if (own === undefined || repositoryRoot(path) !== path || common !== gitFolders(origin)[0])
    return undefined;
  // An agent can write anything into `.git`, also the name of the user's checkout.
  const back = resolve(own, (textAt(join(own, "gitdir")) ?? "").trim());
  return realPlace(back) === realpathSync(join(path, ".git")) ? own : undefined;
}

/** Those of the files that git would add. */
export async function notIgnored(inTree: Git, files: string[]): Promise<string[]> {
  if (files.length === 0) return [];
  const { stdout } = await inTree(["ls-files", "--others", "--exclude-standard", "-z"]);
  const untracked = new Set(namesIn(stdout));
  return files.filter((file) => untracked.has(file));
}
