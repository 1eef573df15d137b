import { lstatSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { RalphError } from "../../errors.js";
import { realPlace } from "../../records/files.js";
import { git, repositoryRoot } from "../git.js";
import { ownGit } from "./own-git.js";

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
      hint: `use letters, digits, dots, dashes and underscores, ${MAX_NAME_CHARS} at the most`,
    });
  const path = join(`${root}-worktrees`, name);
  const inside = relative(repositoryRoot(origin) ?? origin, origin);
  return { name, branch: branchOf(path), path, workspace: join(path, inside) };
}

/** The branch of the worktree in that folder. */
export function branchOf(path: string): string {
  return `ralph/${basename(path)}`;
}

/** The first checkout of the repository, also seen from one of its worktrees. */
async function mainCheckout(origin: string): Promise<string> {
  const what = ["--is-inside-work-tree", "--git-dir", "--git-common-dir"];
  const { ok, stdout, stderr } = await git(origin, ["rev-parse", "--path-format=absolute", ...what]);
  const root = repositoryRoot(origin);
  if (!ok && !stderr.includes("safe.bareRepository")) {
    if (root === undefined)
      throw unusable(`--worktree needs a git repository: ${origin}`, "run git init and commit something");
    // git may have a reason of its own, such as a folder that belongs to another user.
    throw unusable(
      `--worktree cannot use the repository of ${origin}: ${oneLine(stderr, " ")}`,
      "do what git says",
    );
  }
  const [isCheckout, own, common = ""] = stdout.split("\n");
  if (isCheckout !== "true" || root === undefined)
    throw unusable(`--worktree needs a checkout, and this is none: ${origin}`, "start it in a clone");
  if (own === common) return root;
  if (basename(common) === ".git") return dirname(common);
  // A bare repository has no checkout, and its name stands for it; a submodule keeps its records elsewhere.
  const said = await git(common, ["config", "--file", join(common, "config"), "core.worktree"]);
  return said.stdout === "" ? common.replace(/\.git$/, "") : resolve(common, said.stdout.trim());
}

function unusable(what: string, hint: string): RalphError {
  return new RalphError(what, { code: "not_a_repository", hint: `${hint}, or leave --worktree out` });
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
  const there = await whatIsAt(origin, path);
  if (there !== undefined) return there;
  const { ok } = await git(origin, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]);
  return ok ? `the branch ${branch}` : undefined;
}

/** A worktree on a disk that is not mounted is there, too: git knows of it. */
export async function whatIsAt(origin: string, path: string): Promise<string | undefined> {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  const list = ["worktree", "list", "--porcelain"];
  const exact = await git(origin, [...list, "-z"]);
  // git before 2.36 has no -z here.
  const { stdout } = exact.ok ? exact : await git(origin, list);
  const isKnown = stdout.split(exact.ok ? "\0" : "\n").includes(`worktree ${realPlace(path)}`);
  return isKnown ? `git's record of ${path}` : undefined;
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
