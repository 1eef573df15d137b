import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Captured } from "../process/capture.js";
import { type GitOptions, git } from "./git.js";
import { clearFlags, indexNow, newlyFlagged } from "./index-flags.js";
import { type Git, innerRepositories, newLinks, unknownRepositories } from "./inner-repositories.js";
import { startOf } from "./start.js";

export interface Staged extends Captured {
  /** Repositories inside that are no submodules, from the top on: they are not staged. */
  inner: string[];
}

/**
 * `git add --all`, by patterns from the workspace on. git itself would look into repositories inside for changes,
 * and run the filters that they name, whoever made them: of those only the commit that they are at is taken.
 */
export async function stage(
  workspace: string,
  paths: string[],
  options: GitOptions & { git?: Git; flags?: string[] } = {},
): Promise<Staged> {
  const { git: run = (args, more) => git(workspace, args, more), flags = [], ...more } = options;
  await showHidden(workspace);
  const known = await innerRepositories(workspace, run);
  const inner = [
    ...new Set([...(await newLinks(workspace, run)), ...(await unknownRepositories(workspace, run))]),
  ];
  const others = [
    ...paths,
    ...known.map((path) => `:(exclude,literal)${path}`),
    ...inner.map((path) => `:(top,exclude,literal)${path}`),
  ];
  const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await run(["add", "--all", ...flags, ...from], { ...more, stdin: ended(others) });
  const updated = added.ok && known.length > 0 ? await update(paths, known) : added;
  if (inner.length === 0) return { ...updated, inner };
  // An agent may have staged them.
  const stdin = ended(inner.map((path) => `:(top,literal)${path}`));
  const cleared = await run(["reset", "--quiet", ...from], { ...more, stdin });
  return { ...(updated.ok ? cleared : updated), inner };

  async function update(patterns: string[], repositories: string[]): Promise<Captured> {
    const named = (await run(["ls-files", "-z", "--", ...patterns], more)).stdout.split("\0");
    const stdin = ended(repositories.filter((path) => named.includes(path)));
    return run(["update-index", "--add", "--remove", "-z", "--stdin"], { ...more, stdin });
  }
}

/** Changes of tracked files count that somebody hid since the run began; what a sparse checkout took away is not deleted. */
async function showHidden(workspace: string): Promise<void> {
  const start = startOf(workspace);
  if (start === undefined) return;
  const { root } = start;
  const isThere = (file: string): boolean =>
    lstatSync(join(root, file), { throwIfNoEntry: false }) !== undefined;
  const hidden = newlyFlagged(await indexNow(root), start).filter(isThere);
  if (hidden.length > 0) await clearFlags((args, more) => git(root, args, more), hidden);
}

/** Why such repositories are not committed. */
export function innerRefusal(inner: string[]): string {
  const what = inner.length === 1 ? "is a repository of its own" : "are repositories of their own";
  return `${inner.join(", ")} ${what}: git would commit the name and none of the files (remove its .git folder, have git ignore it, or add it as a submodule)`;
}

function ended(paths: string[]): string {
  return paths.map((path) => `${path}\0`).join("");
}
