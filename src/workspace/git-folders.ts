import { git } from "./git.js";

/** Where git keeps the records of a checkout; in a worktree, most of them lie with the repository. */
export async function gitFolders(workspace: string): Promise<string[]> {
  const what = ["--path-format=absolute", "--git-common-dir", "--git-dir"];
  const { ok, stdout } = await git(workspace, ["rev-parse", ...what]);
  return ok ? [...new Set(stdout.trim().split("\n"))] : [];
}
