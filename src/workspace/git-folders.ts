import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { git } from "./git.js";

/** Where git keeps the records of a checkout; in a worktree, most of them lie with the repository. */
export async function gitFolders(workspace: string): Promise<string[]> {
  const what = ["--path-format=absolute", "--git-common-dir", "--git-dir"];
  const { ok, stdout } = await git(workspace, ["rev-parse", ...what]);
  return ok ? [...new Set(stdout.trim().split("\n"))] : [];
}

/** The records of that checkout alone. In worktrees and submodules `.git` is a file that says where they are. */
export function gitFolder(root: string): string {
  const path = join(root, ".git");
  // A pipe would be waited for.
  if (!statSync(path).isFile()) return path;
  return resolve(
    root,
    readFileSync(path, "utf8")
      .replace(/^gitdir: /, "")
      .replace(/\n+$/, ""),
  );
}
