import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Captured } from "../process/capture.js";
import { type GitOptions, git } from "./git.js";
import { startOf, untracked } from "./start.js";

export type Git = (args: string[], options?: GitOptions) => Promise<Captured>;

const GITLINK = "160000 ";

/** Submodules and other repositories that git knows below the folder. */
async function linksIn(run: Git): Promise<string[]> {
  const { stdout } = await run(["ls-files", "--stage", "-z"]);
  const links = stdout.split("\0").filter((entry) => entry.startsWith(GITLINK));
  return [...new Set(links.map((entry) => entry.slice(entry.indexOf("\t") + 1)))];
}

/** Those that are checked out. */
export async function innerRepositories(workspace: string, run: Git): Promise<string[]> {
  return (await linksIn(run)).filter((path) => existsSync(join(workspace, path, ".git")));
}

/** Repositories in the folder that git does not know: it would commit their names, and none of their files. */
export async function unknownRepositories(workspace: string, run: Git): Promise<string[]> {
  const { stdout } = await run(["ls-files", ...untracked(workspace), "--full-name", "-z"]);
  const found = stdout.split("\0").filter((path) => path.endsWith("/"));
  return withoutSubmodules(
    found.map((path) => path.slice(0, -1)),
    run,
  );
}

/** The same where git knows their names by now, since the run began or in the index alone. */
export async function newLinks(root: string, run: Git, links?: string[]): Promise<string[]> {
  const now = links ?? (await linksIn((args) => run([...args, "--full-name", ":/"])));
  if (now.length === 0) return [];
  const before = startOf(root)?.links ?? (await committedLinks(run));
  return withoutSubmodules(
    now.filter((path) => !before.includes(path)),
    run,
  );
}

async function committedLinks(run: Git): Promise<string[]> {
  const { stdout } = await run(["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
  const links = stdout.split("\0").filter((entry) => entry.startsWith(GITLINK));
  return links.map((entry) => entry.slice(entry.indexOf("\t") + 1));
}

/** What `.gitmodules` names can be fetched by others. */
async function withoutSubmodules(paths: string[], run: Git): Promise<string[]> {
  if (paths.length === 0) return [];
  const top = (await run(["rev-parse", "--show-toplevel"])).stdout.replace(/\n$/, "");
  const asked = [
    "config",
    "--file",
    join(top, ".gitmodules"),
    "-z",
    "--get-regexp",
    "^submodule\\..*\\.path$",
  ];
  const { stdout } = await run(asked);
  const named = stdout.split("\0").map((entry) => entry.slice(entry.indexOf("\n") + 1));
  return paths.filter((path) => !named.includes(path));
}

/** Submodules with changes that are not committed in them, from the top of the checkout on. */
export async function dirtySubmodules(root: string, run: Git = (args, more) => git(root, args, more)) {
  const all = await linksIn(run);
  if (all.length === 0) return [];
  const checkedOut = all.filter((path) => existsSync(join(root, path, ".git")));
  const strange = all.filter((path) => !checkedOut.includes(path) && hasFiles(join(root, path)));
  const settings = await withoutFilters(checkedOut, run);
  const what = [
    "--porcelain=v2",
    "--no-renames",
    "--ignore-submodules=none",
    "--untracked-files=normal",
    "-z",
  ];
  const { stdout } = await run(["--no-optional-locks", "status", ...what], { settings });
  const dirty = stdout.split("\0").flatMap((record) => {
    const [kind, , submodule = "", ...rest] = record.split(" ");
    return kind === "1" && /^S.(?:M|.U)/.test(submodule) ? [rest.slice(5).join(" ")] : [];
  });
  return [...strange, ...dirty];
}

/** git does not look into a submodule that is not checked out. */
function hasFiles(path: string): boolean {
  try {
    return readdirSync(path).length > 0;
  } catch {
    return false;
  }
}

/** Settings that leave no filter which such a repository names itself. */
async function withoutFilters(paths: string[], run: Git): Promise<[string, string][]> {
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
