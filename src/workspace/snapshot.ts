import { mkdirSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { type Git, git, namesIn, nulEnded, repositoryRoot } from "./git.js";
import { indexState } from "./index-file.js";
import { ACTIVE_FILE, RUNTIME_FOLDER } from "./runtime.js";
import { dirtySubmodules } from "./stage.js";
import { uncommittedFiles } from "./uncommitted.js";

/** What stands in a workspace, in git's words. */
export interface Snapshot {
  /** The commit that holds all of it; undefined: some of it is not committed. */
  commit?: string;
  tree: string;
  /** The workspace from the top of the repository on; empty: it is the top. */
  folder: string;
}

/**
 * Takes down what stands in a workspace. What no commit holds is kept as objects of git in `store`, a folder of the
 * records: neither the index nor the repository of the user is written. Throws where git cannot tell.
 */
export async function takeSnapshot(
  workspace: string,
  store: string,
  leftOut: string[] = [],
): Promise<Snapshot> {
  rmSync(store, { recursive: true, force: true });
  const root = repositoryRoot(workspace);
  if (root === undefined) return withoutRepository(workspace, store, leftOut);
  const folder = relative(root, workspace);
  const [head, changed] = await Promise.all([
    git(root, ["rev-parse", "HEAD", "HEAD^{tree}"]),
    uncommittedFiles(root, true),
  ]);
  const files = changed?.filter((file) => isWork(file, leftOut));
  const [commit = "", tree = ""] = head.stdout.trim().split("\n");
  if (files === undefined) throw unknown("it does not say what is committed");
  const [dirty] = await dirtySubmodules(root, (await indexState(root)).links);
  if (dirty !== undefined) throw unknown(`the submodule ${dirty} has work that is not committed`);
  if (head.ok && tree !== "" && files.length === 0) return { commit, tree, folder };
  const objects = await git(root, ["rev-parse", "--git-path", "objects"]);
  if (!objects.ok) throw unknown(objects.stderr);
  const env = {
    GIT_OBJECT_DIRECTORY: join(store, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: resolve(root, objects.stdout.trim()),
    GIT_INDEX_FILE: join(store, "index"),
  };
  mkdirSync(env.GIT_OBJECT_DIRECTORY, { recursive: true, mode: 0o700 });
  const run: Git = (args, more) => git(root, args, { ...more, env, makesPrivate: true });
  if (head.ok) await run(["read-tree", "HEAD"]);
  const written = await treeOf(run, files);
  rmSync(join(store, "index"));
  // Such as files that only look changed.
  return { ...(written === tree && { commit }), tree: written, folder };
}

/** A folder that no repository knows becomes a tree all the same. */
async function withoutRepository(workspace: string, store: string, leftOut: string[]): Promise<Snapshot> {
  const made = await git(workspace, ["init", "--quiet", "--bare", "--template=", store], {
    makesPrivate: true,
  });
  if (!made.ok) throw unknown(made.spawnError?.message ?? made.stderr);
  const env = { GIT_DIR: store, GIT_WORK_TREE: workspace, GIT_INDEX_FILE: join(store, "index") };
  const settings: [string, string][] = [
    ["core.bare", "false"],
    ["safe.bareRepository", "all"],
  ];
  const run: Git = (args, more) => git(workspace, args, { ...more, env, settings, makesPrivate: true });
  const listed = await run(["ls-files", "--others", "--exclude-standard", "-z"]);
  const files = namesIn(listed.stdout).filter((file) => isWork(file, leftOut));
  const tree = await treeOf(run, files);
  rmSync(join(store, "index"));
  return { tree, folder: "" };
}

async function treeOf(run: Git, files: string[]): Promise<string> {
  const update = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
  const added = await run(update, { stdin: nulEnded(files) });
  if (!added.ok) throw unknown(added.stderr);
  const { ok, stdout, stderr } = await run(["write-tree"]);
  if (!ok) throw unknown(stderr);
  return stdout.trim();
}

function unknown(why: string): RalphError {
  const words = why.trim().split("\n", 1)[0];
  return new RalphError(`git cannot take down the files: ${words}`, { code: "snapshot_failed" });
}

const NO_WORK = [RUNTIME_FOLDER, ACTIVE_FILE, "node_modules"];

/** A repository inside has a name that ends in a slash: it is no part of the tree. */
function isWork(file: string, leftOut: string[]): boolean {
  return (
    !file.endsWith("/") && !leftOut.includes(file) && !file.split("/").some((name) => NO_WORK.includes(name))
  );
}
