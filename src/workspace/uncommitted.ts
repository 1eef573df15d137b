import { join } from "node:path";
import { stateOf } from "./content.js";
import {
  type GitOptions,
  git,
  gitFolder,
  headCommit,
  namesIn,
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
