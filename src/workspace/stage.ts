import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Capture } from "../process/run.js";
import { statOf } from "./content.js";
import {
  type Git,
  type GitOptions,
  git,
  namesIn,
  nulEnded,
  startOf,
  untracked,
  withoutFilters,
} from "./git.js";
import { clearFlags, hiddenFiles, readIndex } from "./index-file.js";

export interface Staging extends Capture {
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
  const { links } = await readIndex(run);
  const known = links.filter((path) => existsSync(join(workspace, path, ".git")));
  const inner = [
    ...new Set([...(await newLinks(workspace, run)), ...(await unknownRepositories(workspace, run))]),
  ];
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
  if (!staged.ok || inner.length === 0) return { ...staged, inner };
  // An agent may have staged them.
  return {
    ...(await unstage(
      run,
      inner.map((path) => `:(top,literal)${path}`),
      more,
    )),
    inner,
  };
}

/** Takes what matches these patterns out of the index. */
export function unstage(run: Git, patterns: string[], options: GitOptions = {}): Promise<Capture> {
  return run(["reset", "--quiet", ...FROM_STDIN], { ...options, stdin: nulEnded(patterns) });
}

/** Why such repositories are not committed. */
export function innerRefusal(inner: string[]): string {
  const what = inner.length === 1 ? "is a repository of its own" : "are repositories of their own";
  return `${inner.join(", ")} ${what}: git would commit the name and none of the files (remove its .git folder, have git ignore it, or add it as a submodule)`;
}

/** Repositories in the folder that git does not know: it would commit their names, and none of their files. */
export async function unknownRepositories(workspace: string, run: Git): Promise<string[]> {
  const { stdout } = await run(["ls-files", ...untracked(workspace), "--full-name", "-z"]);
  const found = namesIn(stdout).filter((path) => path.endsWith("/"));
  return withoutSubmodules(
    run,
    found.map((path) => path.slice(0, -1)),
  );
}

/** The same where git knows their names by now, since the run began or in the index alone. */
export async function newLinks(root: string, run: Git): Promise<string[]> {
  const { links } = await readIndex(run, ["--full-name", ":/"]);
  const committed = async (): Promise<string[]> => {
    const { stdout } = await run(["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
    return namesIn(stdout).map((entry) => entry.slice(entry.indexOf("\t") + 1));
  };
  if (links.length === 0) return [];
  const before = startOf(root)?.links ?? (await committed());
  return withoutSubmodules(
    run,
    links.filter((path) => !before.includes(path)),
  );
}

/** Others can fetch what `.gitmodules` names. */
async function withoutSubmodules(run: Git, paths: string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const top = (await run(["rev-parse", "--show-toplevel"])).stdout.replace(/\n$/, "");
  const named = await submodulesIn(run, top);
  return paths.filter((path) => !named.has(path));
}

/** The names of submodules by their paths, as `.gitmodules` has them. */
export async function submodulesIn(run: Git, top: string): Promise<Map<string, string>> {
  const args = [
    "config",
    "--file",
    join(top, ".gitmodules"),
    "-z",
    "--get-regexp",
    "^submodule\\..*\\.path$",
  ];
  const entries = namesIn((await run(args)).stdout).map((entry) => entry.split(/\n(.*)/s));
  return new Map(entries.map(([key = "", path = ""]) => [path, key.replace(/^submodule\.|\.path$/g, "")]));
}

/** Submodules with changes that are not committed in them, from the top of the checkout on. */
export async function dirtySubmodules(root: string, links: string[]): Promise<string[]> {
  const states = await Promise.all(links.map((path) => isDirty(join(root, path))));
  return links.filter((_, at) => states[at]);
}

/** git does not search a submodule that is not checked out. None of the filters that it names is run. */
async function isDirty(folder: string): Promise<boolean> {
  if (!existsSync(join(folder, ".git"))) return existsSync(folder) && readdirSync(folder).length > 0;
  const named = await git(folder, ["config", "--name-only", "-z", "--get-regexp", "^filter\\."]);
  const settings = withoutFilters(namesIn(named.stdout));
  const what = ["--porcelain", "--ignore-submodules=none", "--untracked-files=normal"];
  return (await git(folder, ["--no-optional-locks", "status", ...what], { settings })).stdout !== "";
}
