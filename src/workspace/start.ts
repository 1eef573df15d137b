/** How a repository stood when the run in it began. What an agent hides from git later is seen by it. */
export interface Start {
  /** Top folder of the checkout. */
  root: string;
  /** The folder of git's records of that checkout. */
  records: string;
  /** What the user was in the middle of: the id of the operation. */
  operation: string | null;
  unmerged: string[];
  /** Files that git was told not to look at: assume-unchanged, skip-worktree. */
  flagged: string[];
  /** Submodules and other repositories that git knows. */
  links: string[];
  /** Those of them with work that is not committed in them. */
  dirtyLinks: string[];
  /** Repositories inside that git does not know; looked for where ralph commits. */
  inner: string[];
  /** Settings that decide what git takes for a change. */
  settings: [name: string, value: string][];
  /** What `info/attributes` held. */
  attributes: string;
  /** A file with the patterns of `core.excludesFile` and `info/exclude`. */
  excludes: string;
}

/** By the top folder. */
const starts = new Map<string, Start>();

export function rememberStart(start: Start): void {
  starts.set(start.root, start);
}

export function forgetStart({ root }: Start): void {
  starts.delete(root);
}

/** undefined: no run of this process works there. */
export function startOf(folder: string): Start | undefined {
  for (const [root, start] of starts) if (`${folder}/`.startsWith(`${root}/`)) return start;
  return undefined;
}

/** For `git ls-files`: what is not tracked, without what was ignored when the run began. `.gitignore` counts as it is now. */
export function untracked(folder: string): string[] {
  const start = startOf(folder);
  const ignored =
    start === undefined
      ? ["--exclude-standard"]
      : ["--exclude-per-directory=.gitignore", `--exclude-from=${start.excludes}`];
  return ["--others", ...ignored];
}
