import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Git, git, namesIn, startOf, untracked } from "./git.js";

const STAGED = ["ls-files", "--stage", "-z"];

/** Submodules and other repositories among the entries that git lists. */
async function linksIn(run: Git, list: string[]): Promise<string[]> {
  const entries = namesIn((await run(list)).stdout).filter((entry) => entry.startsWith("160000 "));
  return [...new Set(entries.map((entry) => entry.slice(entry.indexOf("\t") + 1)))];
}

/** Those below the folder that are checked out. */
export async function innerRepositories(workspace: string, run: Git): Promise<string[]> {
  return (await linksIn(run, STAGED)).filter((path) => existsSync(join(workspace, path, ".git")));
}

/** Repositories in the folder that git does not know: it would commit their names, and none of their files. */
export async function unknownRepositories(workspace: string, run: Git): Promise<string[]> {
  const { stdout } = await run(["ls-files", ...untracked(workspace), "--full-name", "-z"]);
  const found = namesIn(stdout).filter((path) => path.endsWith("/"));
  return withoutSubmodules(
    found.map((path) => path.slice(0, -1)),
    run,
  );
}

/** The same where git knows their names by now, since the run began or in the index alone. */
export async function newLinks(root: string, run: Git, links?: string[]): Promise<string[]> {
  const now = links ?? (await linksIn(run, [...STAGED, "--full-name", ":/"]));
  if (now.length === 0) return [];
  const committed = ["ls-tree", "-r", "-z", "--full-tree", "HEAD"];
  const before = startOf(root)?.links ?? (await linksIn(run, committed));
  return withoutSubmodules(
    now.filter((path) => !before.includes(path)),
    run,
  );
}

/** Others can fetch what `.gitmodules` names. */
async function withoutSubmodules(paths: string[], run: Git): Promise<string[]> {
  if (paths.length === 0) return [];
  const top = (await run(["rev-parse", "--show-toplevel"])).stdout.replace(/\n$/, "");
  const file = ["--file", join(top, ".gitmodules"), "-z"];
  const { stdout } = await run(["config", ...file, "--get-regexp", "^submodule\\..*\\.path$"]);
  const named = namesIn(stdout).map((entry) => entry.slice(entry.indexOf("\n") + 1));
  return paths.filter((path) => !named.includes(path));
}

/** Submodules with changes that are not committed in them, from the top of the checkout on. */
export async function dirtySubmodules(root: string, run: Git = (args, more) => git(root, args, more)) {
  const all = await linksIn(run, STAGED);
  if (all.length === 0) return [];
  const checkedOut = all.filter((path) => existsSync(join(root, path, ".git")));
  // git does not search a submodule that is not checked out.
  const strange = all.filter((path) => !checkedOut.includes(path) && hasFiles(join(root, path)));
  const what = ["--porcelain=v2", "--no-renames", "--ignore-submodules=none", "--untracked-files=normal"];
  const { stdout } = await run(["--no-optional-locks", "status", ...what, "-z"], {
    settings: await withoutFilters(checkedOut, run),
  });
  const dirty = namesIn(stdout).flatMap((record) => {
    const [kind, , submodule = "", ...rest] = record.split(" ");
    return kind === "1" && /^S.(?:M|.U)/.test(submodule) ? [rest.slice(5).join(" ")] : [];
  });
  return [...strange, ...dirty];
}

function hasFiles(path: string): boolean {
  try {
    return readdirSync(path).length > 0;
  } catch {
    return false;
  }
}

/** Settings that leave out the filters that such a repository names itself. */
async function withoutFilters(paths: string[], run: Git): Promise<[string, string][]> {
  const asked = ["config", "--name-only", "-z", "--get-regexp", "^filter\\."];
  const said = await Promise.all(paths.map((path) => run(["-C", path, ...asked])));
  const names = said.flatMap(({ stdout }) =>
    namesIn(stdout).map((key) => key.slice(0, key.lastIndexOf("."))),
  );
  // With a process that is nothing, git runs neither that nor a program for each file.
  return [...new Set(names)].flatMap((name): [string, string][] => [
    [`${name}.process`, ""],
    [`${name}.required`, "false"],
  ]);
}
