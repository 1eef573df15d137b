import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { git, repositoryRoot } from "./git.js";

/** The commit that is checked out, or undefined in a repository without one. */
export async function headCommit(workspace: string): Promise<string | undefined> {
  const { ok, stdout } = await git(workspace, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  return ok ? stdout.trim() : undefined;
}

/** Files that differ from `base` and were touched since then; null outside a repository. */
export async function countChangedFiles(
  workspace: string,
  base: string | undefined,
  since: Date,
): Promise<number | null> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return null;
  const list = ["ls-files", "--full-name", "-z"];
  const [untracked, tracked] = await Promise.all([
    paths(workspace, [...list, "--others", "--exclude-standard", "--", "."]),
    paths(
      workspace,
      base === undefined ? list : ["diff", "--name-only", "--no-ext-diff", "-z", base, "--", "."],
    ),
  ]);
  const all = new Set([...tracked, ...untracked].filter((path) => !path.split("/").includes(".ralph")));
  return [...all].filter((path) => wasTouched(join(root, path), since)).length;
}

async function paths(workspace: string, args: string[]): Promise<string[]> {
  const { stdout } = await git(workspace, ["--no-optional-locks", ...args]);
  return stdout.split("\0").filter(Boolean);
}

/** What was different before the run and was left alone is not the run's doing. */
function wasTouched(path: string, since: Date): boolean {
  const stat =
    lstatSync(path, { throwIfNoEntry: false }) ?? lstatSync(dirname(path), { throwIfNoEntry: false });
  return stat === undefined || stat.mtime >= since;
}
