import { copyFileSync, cpSync, existsSync, lstatSync, mkdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { RalphError } from "../errors.js";
import { capture } from "../process/capture.js";
import { headCommit } from "./changes.js";
import { git, quietEnvironment, repositoryRoot } from "./git.js";
import { RUNTIME_FILES } from "./runtime.js";

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
  await refuseName(root, name);
  const path = join(`${root}-worktrees`, name);
  const inside = relative(repositoryRoot(origin) ?? origin, origin);
  return { name, branch: `ralph/${name}`, path, workspace: join(path, inside) };
}

/** Somebody else's folder or branch of that name, if there is one. */
export async function takenBy(origin: string, { path, branch }: Worktree): Promise<string | undefined> {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  const { ok } = await git(origin, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]);
  return ok ? `the branch ${branch}` : undefined;
}

/** All or nothing: what cannot be made ready is taken away again. The user's checkout is not touched. */
export async function createWorktree(
  origin: string,
  worktree: Worktree,
  setup: string | undefined,
): Promise<void> {
  const { path, branch, workspace } = worktree;
  if ((await headCommit(origin)) === undefined) {
    throw new RalphError("a worktree needs a commit, and this repository has none", {
      code: "no_commit",
      hint: "commit something first",
    });
  }
  mkdirSync(dirname(path), { recursive: true });
  const added = await git(origin, ["worktree", "add", "--quiet", "-b", branch, path, "HEAD"]);
  if (!added.ok) throw failed("cannot make the worktree", added.stderr);
  try {
    await copyIncluded(origin, path);
    mkdirSync(workspace, { recursive: true });
    if (setup !== undefined) await runSetup(setup, workspace);
  } catch (error) {
    await git(origin, ["worktree", "remove", "--force", path]);
    await git(origin, ["branch", "--quiet", "-D", branch]);
    throw error;
  }
}

/** Removes a worktree and its branch, if all of its work is in the checkout and nothing is left in it. */
export async function removeWorktree(origin: string, path: string): Promise<boolean> {
  const branch = `ralph/${basename(path)}`;
  const merged = await git(origin, ["merge-base", "--is-ancestor", branch, "HEAD"]);
  if (!merged.ok || !(await git(origin, ["worktree", "remove", path])).ok) return false;
  return (await git(origin, ["branch", "--quiet", "-d", branch])).ok;
}

/** Commits what an agent left uncommitted. undefined: there was nothing; else what went wrong, or null. */
export async function commitLeftovers(path: string, message: string): Promise<string | null | undefined> {
  const own = RUNTIME_FILES.map((file) => `:(exclude,glob)**/${file}`);
  const { stdout } = await git(path, ["status", "--porcelain", "--untracked-files=all", "--", ".", ...own]);
  if (stdout === "") return undefined;
  const added = await git(path, ["add", "--all", "--", ".", ...own]);
  if (!added.ok) return added.stderr.trim();
  // Work must not be lost to a hook, a missing name or a key that nobody unlocks at night.
  const commit = [...(await identity(path)), "commit", "--quiet", "--no-verify", "--no-gpg-sign"];
  const { ok, stderr, stdout: said } = await git(path, [...commit, "--message", message]);
  return ok ? null : (stderr || said).trim();
}

async function identity(path: string): Promise<string[]> {
  const { ok } = await git(path, ["var", "GIT_COMMITTER_IDENT"]);
  return ok ? [] : ["-c", "user.name=ralph", "-c", "user.email=ralph@localhost"];
}

/** Worktrees of worktrees stand beside the first checkout, too. */
async function mainCheckout(origin: string): Promise<string> {
  const { ok, stdout } = await git(origin, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
  if (!ok) {
    throw new RalphError(`--worktree needs a git repository: ${origin}`, {
      code: "not_a_repository",
      hint: "run git init and commit something, or leave --worktree out",
    });
  }
  const common = stdout.trim();
  return basename(common) === ".git" ? dirname(common) : common.replace(/\.git$/, "");
}

async function refuseName(root: string, name: string): Promise<void> {
  const { ok } = await git(root, ["check-ref-format", `refs/heads/ralph/${name}`]);
  if (ok && /^[\w][\w.-]*$/.test(name)) return;
  throw new RalphError(`--worktree ${name}: not a name for a branch and a folder`, {
    code: "worktree_name",
    hint: "use letters, digits, dots, dashes and underscores",
  });
}

const INCLUDE_FILE = ".worktreeinclude";

/** Untracked files that work needs, such as `.env`: patterns as in `.gitignore`. */
async function copyIncluded(origin: string, path: string): Promise<void> {
  const root = repositoryRoot(origin) ?? origin;
  if (!existsSync(join(root, INCLUDE_FILE))) return;
  const list = ["ls-files", "--others", "--ignored", `--exclude-from=${INCLUDE_FILE}`, "-z"];
  const { stdout } = await git(root, list);
  for (const file of stdout.split("\0").filter(Boolean)) {
    const [from, to] = [join(root, file), join(path, file)];
    if (existsSync(to)) continue;
    mkdirSync(dirname(to), { recursive: true });
    if (lstatSync(from).isFile()) copyFileSync(from, to);
    else cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
}

const SETUP_MS = 30 * 60_000;

async function runSetup(command: string, workspace: string): Promise<void> {
  const { ok, stdout, stderr, exitCode, timedOut } = await capture(
    { file: "/bin/sh", args: ["-c", command], cwd: workspace, env: quietEnvironment() },
    { timeoutMs: SETUP_MS },
  );
  if (ok) return;
  const how = timedOut ? "timed out" : `exit ${exitCode}`;
  throw failed(`setup failed in the new worktree (${how}): ${command}`, stderr || stdout);
}

function failed(what: string, output: string): RalphError {
  const last = output.trim().split("\n").at(-1) ?? "";
  return new RalphError(last === "" ? what : `${what}: ${last}`, { code: "worktree_failed" });
}
