import { join } from "node:path";
import type { Captured } from "../process/capture.js";
import { statOf } from "./content.js";
import { type Git, type GitOptions, git, namesIn, nulEnded, startOf } from "./git.js";
import { clearFlags, hiddenFiles } from "./index-file.js";
import { innerRepositories, newLinks, unknownRepositories } from "./inner-repositories.js";

export interface Staging extends Captured {
  /** Repositories inside that are no submodules, from the top on: they are not staged. */
  inner: string[];
}

const FROM_STDIN = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/**
 * `git add --all`, by patterns from the workspace on. git itself would search repositories inside for changes, and
 * run the filters that they name, also those of an agent: of those only the commit that they are at is taken.
 */
export async function stage(
  workspace: string,
  paths: string[],
  options: GitOptions & { git?: Git; flags?: string[] } = {},
): Promise<Staging> {
  const { git: run = (args, more) => git(workspace, args, more), flags = [], ...more } = options;
  // Shows git the files that were hidden since the run began; what a sparse checkout left out is not deleted.
  const top = startOf(workspace)?.root ?? workspace;
  const hidden = (await hiddenFiles(top)).filter((file) => statOf(join(top, file)) !== undefined);
  await clearFlags((args, more) => git(top, args, more), hidden);
  const known = await innerRepositories(workspace, run);
  const found = [...(await newLinks(workspace, run)), ...(await unknownRepositories(workspace, run))];
  const inner = [...new Set(found)];
  const patterns = [
    ...paths,
    ...known.map((path) => `:(exclude,literal)${path}`),
    ...inner.map((path) => `:(top,exclude,literal)${path}`),
  ];
  let staged = await run(["add", "--all", ...flags, ...FROM_STDIN], { ...more, stdin: nulEnded(patterns) });
  if (staged.ok && known.length > 0) {
    const named = namesIn((await run(["ls-files", "-z", "--", ...paths], more)).stdout);
    const stdin = nulEnded(known.filter((path) => named.includes(path)));
    staged = await run(["update-index", "--add", "--remove", "-z", "--stdin"], { ...more, stdin });
  }
  if (inner.length === 0) return { ...staged, inner };
  // An agent may have staged them.
  const cleared = await unstage(
    run,
    inner.map((path) => `:(top,literal)${path}`),
    more,
  );
  return { ...(staged.ok ? cleared : staged), inner };
}

/** Takes what matches these patterns out of the index. */
export function unstage(run: Git, patterns: string[], options: GitOptions = {}): Promise<Captured> {
  return run(["reset", "--quiet", ...FROM_STDIN], { ...options, stdin: nulEnded(patterns) });
}

/** Why such repositories are not committed. */
export function innerRefusal(inner: string[]): string {
  const what = inner.length === 1 ? "is a repository of its own" : "are repositories of their own";
  return `${inner.join(", ")} ${what}: git would commit the name and none of the files (remove its .git folder, have git ignore it, or add it as a submodule)`;
}
