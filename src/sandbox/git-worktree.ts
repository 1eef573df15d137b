import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { git } from "../workspace/git.js";

/** What holds no branch, and is added to by a commit. `reftable` holds all branches, where a repository has it. */
const ADDED_TO = ["objects", "lfs", "reftable"];

/**
 * A commit in a worktree needs its own records, a place for objects, and its branch. A branch is written beside
 * itself and then renamed, so that its folder is open; the branches beside it are not.
 */
export async function ofWorktree(
  workspace: string,
  own: string,
  common: string,
): Promise<{ writes: string[]; protects: string[] }> {
  const writes = [own, ...ADDED_TO.map((name) => join(common, name)).filter((path) => existsSync(path))];
  const branch = (await git(workspace, ["symbolic-ref", "-q", "HEAD"])).stdout.trim();
  if (!branch.startsWith("refs/heads/")) return { writes, protects: [] };
  const folders = [dirname(join(common, branch)), dirname(join(common, "logs", branch))];
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  await keepPlaces(workspace, common, dirname(branch));
  const beside = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const isOwn = (path: string): boolean =>
    [basename(branch), `${basename(branch)}.lock`].includes(basename(path));
  return { writes: [...writes, ...folders], protects: beside.filter((path) => !isOwn(path)) };
}

/** A branch that is packed could be made anew beside the pack, and would win: it gets its file, as if it had moved. */
async function keepPlaces(workspace: string, common: string, folder: string): Promise<void> {
  const format = "--format=%(objectname) %(refname)";
  const { stdout } = await git(workspace, ["for-each-ref", format, `${folder}/`]);
  for (const line of stdout.split("\n").filter(Boolean)) {
    const [id = "", name = ""] = line.split(" ");
    const [first = "", ...below] = name.slice(folder.length + 1).split("/");
    const path = join(common, folder, first);
    if (existsSync(path)) continue;
    if (below.length > 0) mkdirSync(path);
    else writeFileSync(path, `${id}\n`, { flag: "wx" });
  }
}
