import {
  constants,
  copyFileSync,
  existsSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { toRalphError } from "../errors.js";
import {
  type Git,
  type GitOptions,
  git,
  gitFolder,
  namesIn,
  nulEnded,
  scratchFolder,
  startOf,
} from "./git.js";

/** An agent must not be able to make git blind to changes. */
export const SEES_CHANGES: [name: string, value: string][] = [
  // A split index would write its shared part beside the user's own.
  ["core.splitIndex", "false"],
  ["core.untrackedCache", "false"],
  ["core.trustctime", "true"],
  ["core.checkStat", "default"],
  ["core.ignoreStat", "false"],
];

/** Paths in the index. */
export interface IndexState {
  /** git was told not to look at them: assume-unchanged, skip-worktree. */
  flagged: string[];
  /** Submodules and other repositories. */
  links: string[];
  /** With a conflict that nobody has resolved. */
  unmerged: string[];
}

/** The last answer for each repository, and the index that it was read from. */
const known = new Map<string, { print: string; state: Promise<IndexState> }>();

/** git replaces the file of its index when it writes it: while it is the same file, it is the same state. */
export function indexState(root: string): Promise<IndexState> {
  const file = existsSync(join(root, ".git")) ? join(gitFolder(root), "index") : root;
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  const print = stat === undefined ? "none" : [stat.dev, stat.ino, stat.size, stat.ctimeNs].join();
  const before = known.get(root);
  if (before?.print === print) return before.state;
  const run: Git = async (args) => {
    const listed = await git(root, args);
    if (!listed.ok) known.delete(root);
    return listed;
  };
  // Where git knows no file, there is no index.
  const state = stat === undefined ? Promise.resolve(stateIn("")) : readIndex(run);
  known.set(root, { print, state });
  return state;
}

/** `H 100644 hash 0`, then the path: small letters are assume-unchanged, S is skip-worktree, M is unmerged. */
export async function readIndex(run: Git, which: string[] = []): Promise<IndexState> {
  return stateIn((await run(["ls-files", "-v", "--stage", "-z", ...which])).stdout);
}

function stateIn(stdout: string): IndexState {
  const unusual = namesIn(stdout).filter((entry) => !/^H 1(?!60000 )/.test(entry));
  const those = (pattern: RegExp): string[] => {
    const entries = unusual.filter((entry) => pattern.test(entry));
    return [...new Set(entries.map((entry) => entry.slice(entry.indexOf("\t") + 1)))];
  };
  return { flagged: those(/^[a-zS]/), links: those(/^. 160000 /), unmerged: those(/^M/i) };
}

/** Files that git was told not to look at since the run began; none outside of a run. */
export async function hiddenFiles(folder: string): Promise<string[]> {
  const start = startOf(folder);
  if (start === undefined) return [];
  const { flagged } = await indexState(start.root);
  return flagged.filter((file) => !start.flagged.includes(file));
}

export async function clearFlags(run: Git, flagged: string[]): Promise<void> {
  if (flagged.length === 0) return;
  // git takes one of them at a time.
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"])
    await run(["update-index", flag, "-z", "--stdin"], { stdin: nulEnded(flagged) });
}

/**
 * `git diff` writes to the index that it reads, also when it is told to take no locks: it gets a copy, without the
 * flags of the `flagged` files. undefined where none can be made, as on a full disk.
 */
export async function withIndexCopy<Result>(
  root: string,
  flagged: string[],
  use: (copy: Required<Pick<GitOptions, "env" | "settings">>) => Promise<Result>,
): Promise<Result | undefined> {
  const file = copyOfIndex(root);
  if (file === undefined) return undefined;
  try {
    // A split index would write its shared part beside the user's own.
    const copy = {
      env: { GIT_INDEX_FILE: file },
      settings: [["core.splitIndex", "false"]] satisfies [string, string][],
    };
    await clearFlags((args, more) => git(root, args, { ...more, ...copy }), flagged);
    return await use(copy);
  } finally {
    removeCopy(file);
  }
}

/** Most often there is one file in its folder. Node's own way of removing a folder takes several times as long. */
function removeCopy(file: string): void {
  try {
    unlinkSync(file);
    rmdirSync(dirname(file));
  } catch {
    rmSync(dirname(file), { recursive: true, force: true });
  }
}

/** In a folder of its own. undefined where none can be made, as on a full disk. */
export function copyOfIndex(root: string): string | undefined {
  let folder: string | undefined;
  try {
    folder = scratchFolder(root);
    const [own, copy] = [join(gitFolder(root), "index"), join(folder, "index")];
    if (!existsSync(own)) return copy;
    copyFileSync(own, copy, constants.COPYFILE_FICLONE);
    // git goes by the time of the index to find files that were edited after it was written.
    const time = Math.floor(statSync(own).mtimeMs / 1000);
    utimesSync(copy, time, time);
    return copy;
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    if (toRalphError(error) === undefined) throw error;
    return undefined;
  }
}
