import { join } from "node:path";
import { stateOf } from "./content.js";
import { git, gitFolder, headCommit, namesIn, repositoryRoot, startOf, untracked } from "./git.js";
import { indexState, newlyFlagged, withIndexCopy } from "./index-file.js";
import { dirtySubmodules, newLinks } from "./inner-repositories.js";
import { ACTIVE_FILE, RUNTIME_FOLDER } from "./runtime.js";
import { infoText } from "./start.js";

const OWN_FILES = [`**/${RUNTIME_FOLDER}`, `**/${RUNTIME_FOLDER}/**`, `**/${ACTIVE_FILE}`];
const PATHS = ["--", ".", ...OWN_FILES.map((path) => `:(exclude,glob)${path}`)];

/** A program that the repository names would decide what git believes. */
const TRUSTED = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"];

/** They decide what counts as a change, and no commit holds them. */
const ATTRIBUTES = ".git/info/attributes";

/**
 * What is not committed in the workspace, new files included, from the top of the repository on. Files of
 * ralph's own are left out. Within a run, what was hidden from git since it began is not hidden. A folder that git
 * does not know is one name, or all of its files with `whole`. undefined where git cannot tell.
 */
export async function uncommittedFiles(workspace: string, whole = false): Promise<string[] | undefined> {
  const start = startOf(workspace);
  if (start === undefined) return statusOf(workspace, whole ? "all" : "normal");
  const { root, records } = start;
  if (repositoryRoot(workspace) !== root || gitFolder(root) !== records) return undefined;
  // `core.worktree` could name another folder, and `git replace` another commit.
  const env = { GIT_WORK_TREE: root, GIT_NO_REPLACE_OBJECTS: "1" };
  const [index, others] = await Promise.all([indexState(root), untrackedFiles(workspace, whole, env)]);
  const inner = await newLinks(root, (args) => git(root, args), index.links);
  const dirty = index.links.length === 0 ? [] : await dirtySubmodules(root);
  const hidden = newlyFlagged(index, start);
  const tracked =
    hidden.length === 0
      ? await statusOf(workspace, "no", env)
      : await withIndexCopy(root, hidden, (copy) => statusOf(workspace, "no", { ...env, ...copy.env }));
  if (tracked === undefined || others === undefined) return undefined;
  const submodules = dirty.filter((path) => !start.dirtyLinks.includes(path));
  const rules = infoText(records, "attributes") === start.attributes ? [] : [ATTRIBUTES];
  return [...new Set([...tracked, ...others, ...inner, ...submodules, ...rules])];
}

async function untrackedFiles(
  workspace: string,
  whole: boolean,
  env: Record<string, string>,
): Promise<string[] | undefined> {
  const what = [...(whole ? [] : ["--directory", "--no-empty-directory"]), "--full-name", "-z"];
  const args = ["ls-files", ...untracked(workspace), ...what, ...PATHS];
  const { ok, stdout } = await git(workspace, [...TRUSTED, ...args], { env });
  return ok ? namesIn(stdout) : undefined;
}

async function statusOf(
  workspace: string,
  untrackedFiles: "no" | "normal" | "all",
  env: Record<string, string> = {},
): Promise<string[] | undefined> {
  const how = ["--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"];
  const args = ["status", ...how, `--untracked-files=${untrackedFiles}`, ...PATHS];
  const { ok, stdout } = await git(workspace, [...TRUSTED, ...args], { env });
  return ok ? namesIn(stdout).map((entry) => entry.slice(3)) : undefined;
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
