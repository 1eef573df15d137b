import { basename, dirname, join, resolve } from "node:path";
import { RalphError } from "../../errors.js";
import { git, repositoryRoot } from "../git.js";

/** The first checkout of the repository, also seen from one of its worktrees. */
export async function mainCheckout(origin: string): Promise<string> {
  const what = ["--is-inside-work-tree", "--git-dir", "--git-common-dir"];
  const { ok, stdout, stderr } = await git(origin, ["rev-parse", "--path-format=absolute", ...what]);
  if (!ok && !stderr.includes("safe.bareRepository")) throw refused(origin, stderr);
  const root = repositoryRoot(origin);
  const [isCheckout, own, common = ""] = stdout.split("\n");
  if (isCheckout !== "true" || root === undefined) {
    throw unusable(`--worktree needs a checkout, and this is none: ${origin}`, "start it in a clone");
  }
  if (own === common) return root;
  return basename(common) === ".git" ? dirname(common) : checkoutOf(common);
}

/** git may have a reason of its own, such as a folder that belongs to somebody else. */
function refused(origin: string, said: string): RalphError {
  if (repositoryRoot(origin) === undefined) {
    return unusable(`--worktree needs a git repository: ${origin}`, "run git init and commit something");
  }
  const words = said
    .trim()
    .replace(/^fatal: /, "")
    .replace(/\s*\n\s*/g, " ");
  return unusable(`--worktree cannot use the repository of ${origin}: ${words}`, "do what git says");
}

/** A bare repository has none, and its name stands for it; a submodule keeps its records elsewhere. */
async function checkoutOf(common: string): Promise<string> {
  const { stdout } = await git(common, ["config", "--file", join(common, "config"), "core.worktree"]);
  return stdout === "" ? common.replace(/\.git$/, "") : resolve(common, stdout.trim());
}

function unusable(what: string, hint: string): RalphError {
  return new RalphError(what, { code: "not_a_repository", hint: `${hint}, or leave --worktree out` });
}
