import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { git } from "../git.js";

/** Whether git knows of a worktree in that folder, also if the folder is not there. */
export async function isRegistered(origin: string, path: string): Promise<boolean> {
  const list = ["worktree", "list", "--porcelain"];
  const exact = await git(origin, [...list, "-z"]);
  // git before 2.36 has no -z here.
  const { stdout } = exact.ok ? exact : await git(origin, list);
  return stdout.split(exact.ok ? "\0" : "\n").includes(`worktree ${realPath(path)}`);
}

/** As far as it is there. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path));
  }
}
