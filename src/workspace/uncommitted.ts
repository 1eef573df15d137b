import { mkdirSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { stateOf } from "./content.js";
import {
  type Git,
  type GitOptions,
  git,
  gitFolder,
  headCommit,
  namesIn,
  nulEnded,
  repositoryRoot,
  startOf,
  untracked,
} from "./git.js";
import { hiddenFiles, indexState, withIndexCopy } from "./index-file.js";
import { ACTIVE_FILE, RUNTIME_FOLDER } from "./runtime.js";
import { dirtySubmodules, newLinks } from "./stage.js";

const OWN_FILES = [`**/${RUNTIME_FOLDER}`, `**/${RUNTIME_FOLDER}/**`, `**/${ACTIVE_FILE}`];
const PATHS = ["--", ".", ...OWN_FILES.map((path) => `:(exclude,glob)${path}`)];

const STATUS = ["--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty", "--untracked-files=no"];
const SETTINGS: [name: string, value: string][] = [["core.untrackedCache", "false"]];

/**
 * What is not committed in the workspace, new files included, from the top of the repository on. Files of
 * ralph's own are left out. Within a run, what was hidden from git since it began is not hidden. A folder that git
 * does not know is one name, or all of its files with `whole`. undefined where git cannot tell.
 */
export async function uncommittedFiles(workspace: string, whole = false): Promise<string[] | undefined> {
  const start = startOf(workspace);
  const root = repositoryRoot(workspace);
  const isOther = start !== undefined && (root !== start.root || gitFolder(root) !== start.records);
  if (root === undefined || isOther) return undefined;
  const index = await indexState(root);
  const dirty = start === undefined ? [] : await dirtySubmodules(root, index.links);
  const listed = await withIndexCopy(root, await hiddenFiles(root), async ({ env, settings }) => {
    // `core.worktree` could name another folder, and `git replace` another commit.
    const own = start && { GIT_WORK_TREE: root, GIT_NO_REPLACE_OBJECTS: "1" };
    const options: GitOptions = { env: { ...env, ...own }, settings: [...settings, ...SETTINGS] };
    const folders = whole ? [] : ["--directory", "--no-empty-directory"];
    const [tracked, others] = await Promise.all([
      git(workspace, ["status", ...STATUS, ...PATHS], options),
      git(
        workspace,
        ["ls-files", ...untracked(workspace), ...folders, "--full-name", "-z", ...PATHS],
        options,
      ),
    ]);
    if (!tracked.ok || !others.ok) return undefined;
    return [...namesIn(tracked.stdout).map((entry) => entry.slice(3)), ...namesIn(others.stdout)];
  });
  if (listed === undefined) return undefined;
  const inner = index.links.length === 0 ? [] : await newLinks(root, (args) => git(root, args));
  const submodules = dirty.filter((path) => !start?.dirtyLinks.includes(path));
  return [...new Set([...listed, ...inner, ...submodules])];
}

/** What a repository holds at one moment: its commit, and every file that differs from it, with its state. */
export interface Work {
  head?: string | undefined;
  /** By path, from the top of the repository on. */
  dirty: Record<string, string>;
}

/** With more files, folders that git does not know are one entry each. */
const MAX_FILES = 5000;
/** Larger files are told apart by their times. */
const MAX_READ_BYTES = 1024 * 1024;

/** undefined where git cannot tell. */
export async function currentWork(workspace: string): Promise<Work | undefined> {
  const root = repositoryRoot(workspace);
  const all = root === undefined ? undefined : await uncommittedFiles(workspace, true);
  const files = all !== undefined && all.length > MAX_FILES ? await uncommittedFiles(workspace) : all;
  if (root === undefined || files === undefined) return undefined;
  const dirty = Object.fromEntries(files.map((file) => [file, stateOf(join(root, file), MAX_READ_BYTES)]));
  return { head: await headCommit(workspace), dirty };
}

/** Files whose content, committed or not, was given to them between the two. Undoing what was not committed is no edit. */
export async function editedBetween(workspace: string, before: Work, after: Work): Promise<string[]> {
  const root = repositoryRoot(workspace) ?? workspace;
  const isCommittedAsItWas = (file: string): boolean =>
    before.dirty[file] !== undefined &&
    !(file in after.dirty) &&
    before.dirty[file] === stateOf(join(root, file), MAX_READ_BYTES);
  const committed = await committedBetween(workspace, before.head, after.head);
  const edited = [
    ...committed.filter((file) => !isCommittedAsItWas(file)),
    ...Object.keys(after.dirty).filter((file) => after.dirty[file] !== before.dirty[file]),
  ];
  return [...new Set(edited)].sort();
}

async function committedBetween(workspace: string, from?: string, to?: string): Promise<string[]> {
  if (to === undefined || from === to) return [];
  const list = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", to];
  const diff = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-relative", from ?? "", to];
  const { stdout } = await git(workspace, from === undefined ? list : diff);
  return namesIn(stdout);
}

/** Whether a file is one of those, or in one that is a folder: of a new folder git names the folder alone. */
export function isAmong(file: string, paths: string[]): boolean {
  return paths.some((path) => file === path || (path.endsWith("/") && file.startsWith(path)));
}

/** What stands in a workspace, in git's words. */
interface Snapshot {
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
