import { constants, copyFileSync, existsSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { toRalphError } from "../errors.js";
import {
  type Git,
  type GitOptions,
  git,
  gitFolder,
  namesIn,
  nulEnded,
  type Start,
  scratchFolder,
  startOf,
} from "./git.js";

/** Paths in the index, from the top of the repository on. */
export interface IndexState {
  /** git was told not to look at them: assume-unchanged, skip-worktree. */
  flagged: string[];
  /** Submodules and other repositories. */
  links: string[];
  /** With a conflict that nobody has resolved. */
  unmerged: string[];
}

/** `H 100644 hash 0`, then the path: small letters are assume-unchanged, S is skip-worktree, M is unmerged. */
export async function indexState(root: string): Promise<IndexState> {
  const { stdout } = await git(root, ["ls-files", "-v", "--stage", "-z"]);
  const unusual = namesIn(stdout).filter((entry) => !/^H 1(?!60000 )/.test(entry));
  const those = (pattern: RegExp): string[] => [
    ...new Set(
      unusual.filter((entry) => pattern.test(entry)).map((entry) => entry.slice(entry.indexOf("\t") + 1)),
    ),
  ];
  return { flagged: those(/^[a-zS]/), links: those(/^. 160000 /), unmerged: those(/^M/i) };
}

/** Files that git was told not to look at since the run began. */
export function newlyFlagged({ flagged }: IndexState, start: Start): string[] {
  return flagged.filter((file) => !start.flagged.includes(file));
}

/** The same as git's index says now; none outside of a run. */
export async function hiddenFiles(folder: string): Promise<string[]> {
  const start = startOf(folder);
  return start === undefined ? [] : newlyFlagged(await indexState(start.root), start);
}

export async function clearFlags(run: Git, flagged: string[]): Promise<void> {
  if (flagged.length === 0) return;
  // git takes one of them at a time.
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"])
    await run(["update-index", flag, "-z", "--stdin"], { stdin: nulEnded(flagged) });
}

/** For `git()`. */
export type IndexCopy = Required<Pick<GitOptions, "env" | "settings">>;

/**
 * `git diff` writes to the index that it reads, also when it is told to take no locks: it gets a copy, without the
 * flags of the `flagged` files. undefined where none can be made, as on a full disk.
 */
export async function withIndexCopy<Result>(
  root: string,
  flagged: string[],
  use: (copy: IndexCopy) => Promise<Result>,
): Promise<Result | undefined> {
  const copy = copyOfIndex(root);
  if (copy === undefined) return undefined;
  try {
    // A split index would write its shared part beside the user's own.
    const options: IndexCopy = { env: { GIT_INDEX_FILE: copy }, settings: [["core.splitIndex", "false"]] };
    await clearFlags((args, more) => git(root, args, { ...more, ...options }), flagged);
    return await use(options);
  } finally {
    rmSync(dirname(copy), { recursive: true, force: true });
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
