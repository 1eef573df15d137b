import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Captured } from "../process/capture.js";
import { type GitOptions, git } from "./git.js";

type Git = (args: string[], options?: GitOptions) => Promise<Captured>;

const GITLINK = "160000 ";

/**
 * `git add --all`, by patterns from the workspace on. git itself would look into repositories inside for changes,
 * and run the filters that they name, whoever made them: of those only the commit that they are at is taken.
 */
export async function stage(
  workspace: string,
  paths: string[],
  options: GitOptions & { git?: Git; flags?: string[] } = {},
): Promise<Captured> {
  const { git: run = (args, more) => git(workspace, args, more), flags = [], ...more } = options;
  const inner = await innerRepositories(workspace, run);
  const others = [...paths, ...inner.map((path) => `:(exclude,literal)${path}`)];
  const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await run(["add", "--all", ...flags, ...from], { ...more, stdin: ended(others) });
  if (!added.ok || inner.length === 0) return added;
  const named = (await run(["ls-files", "-z", "--", ...paths], more)).stdout.split("\0");
  const stdin = ended(inner.filter((path) => named.includes(path)));
  return run(["update-index", "--add", "--remove", "-z", "--stdin"], { ...more, stdin });
}

/** Submodules and other repositories that git knows below the workspace, where they are checked out. */
export async function innerRepositories(workspace: string, run: Git): Promise<string[]> {
  const { stdout } = await run(["ls-files", "--stage", "-z"]);
  const links = stdout.split("\0").filter((entry) => entry.startsWith(GITLINK));
  const paths = links.map((entry) => entry.slice(entry.indexOf("\t") + 1));
  return [...new Set(paths)].filter((path) => existsSync(join(workspace, path, ".git")));
}

function ended(paths: string[]): string {
  return paths.map((path) => `${path}\0`).join("");
}

/** Settings that leave no filter which such a repository names itself. */
export async function withoutFilters(paths: string[], run: Git): Promise<[string, string][]> {
  const asked = ["config", "--name-only", "-z", "--get-regexp", "^filter\\."];
  const said = await Promise.all(paths.map((path) => run(["-C", path, ...asked])));
  const keys = said.flatMap(({ stdout }) => stdout.split("\0").filter(Boolean));
  const names = new Set(keys.map((key) => key.slice(0, key.lastIndexOf("."))));
  // With a process that is nothing, git runs neither that nor a program for each file.
  return [...names].flatMap((name): [string, string][] => [
    [`${name}.process`, ""],
    [`${name}.required`, "false"],
  ]);
}
