import { git } from "./git.js";
import { type IndexCopy, withIndexCopy } from "./index-copy.js";
import type { Git } from "./inner-repositories.js";
import type { Start } from "./start.js";

/** Paths in the index, from the top of the repository on. */
interface IndexNow {
  /** git was told not to look at them: assume-unchanged, skip-worktree. */
  flagged: string[];
  /** Submodules and other repositories. */
  links: string[];
  /** With a conflict that nobody has resolved. */
  unmerged: string[];
}

/** `H 100644 hash 0`, then the path: small letters are assume-unchanged, S is skip-worktree, M is unmerged. */
export async function indexNow(root: string): Promise<IndexNow> {
  const { stdout } = await git(root, ["ls-files", "-v", "--stage", "-z"]);
  const unusual = stdout
    .split("\0")
    .filter((entry) => (entry !== "" && !entry.startsWith("H 1")) || entry.startsWith(LINK));
  const those = (pattern: RegExp): string[] => [
    ...new Set(
      unusual.filter((entry) => pattern.test(entry)).map((entry) => entry.slice(entry.indexOf("\t") + 1)),
    ),
  ];
  return { flagged: those(/^[a-zS]/), links: those(/^. 160000 /), unmerged: those(/^M/i) };
}

const LINK = "H 160000 ";

/** Looks at a copy of the index that has these flags no more; undefined where that cannot be made. */
export function withoutFlags<Result>(
  root: string,
  flagged: string[],
  look: (copy: IndexCopy) => Promise<Result>,
): Promise<Result | undefined> {
  return withIndexCopy(root, async (copy) => {
    const { env, settings } = copy;
    const run: Git = (args, more) => git(root, [...settings, ...args], { ...more, env });
    if (flagged.length > 0) await clearFlags(run, flagged);
    return look(copy);
  });
}

export async function clearFlags(run: Git, flagged: string[]): Promise<void> {
  const stdin = flagged.map((path) => `${path}\0`).join("");
  // git takes one of them at a time.
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"])
    await run(["update-index", flag, "-z", "--stdin"], { stdin });
}

/** Files that somebody told git not to look at since the run began. */
export function newlyFlagged({ flagged }: IndexNow, start: Start): string[] {
  return flagged.filter((file) => !start.flagged.includes(file));
}
