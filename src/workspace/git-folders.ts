import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { repositoryRoot } from "./git.js";

/** Where git keeps the records of a checkout; in a worktree, most of them lie with the repository. */
export function gitFolders(workspace: string): string[] {
  const root = repositoryRoot(workspace);
  if (root === undefined) return [];
  try {
    const own = realpathSync(gitFolder(root));
    const link = join(own, "commondir");
    const common = existsSync(link) ? realpathSync(resolve(own, readFileSync(link, "utf8").trim())) : own;
    return [...new Set([common, own])];
  } catch {
    // `.git` leads nowhere.
    return [];
  }
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
