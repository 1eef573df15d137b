import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { git, gitFolders, repositoryRoot } from "../workspace/git.js";
import { type HeldPath, isBehindLink } from "./held.js";

/** What git obeys in its folder. An empty `commondir` would be an error; `.` equals a missing file. */
const OBEYED: Record<string, string | null | undefined> = {
  hooks: undefined,
  config: undefined,
  gitdir: undefined,
  commondir: ".\n",
  "config.worktree": "",
};

/** A worktree shares these with its repository; the last two are addresses in git's oldest form. */
const OBEYED_ONCE = { ...OBEYED, "info/attributes": "", remotes: null, branches: null };

/** What git must write for a commit, and which of its files make other programs run things. */
export async function gitFiles(workspace: string): Promise<{ writes: string[]; held: HeldPath[] }> {
  const [common, own = common] = gitFolders(workspace);
  if (common === undefined || own === undefined) return { writes: [], held: [] };
  const [asked, taken] = await Promise.all([
    git(workspace, ["rev-parse", "--path-format=absolute", "--git-path", "hooks"], { hooks: true }),
    includedFiles(workspace),
  ]);
  const hooks = asked.stdout.replace(/\n$/, "");
  mkdirSync(join(common, "hooks"), { recursive: true });
  const isWorktree = own !== common;
  // The checkout's own folder, too: nobody can move a mount away.
  const commit = isWorktree
    ? await commitFiles(workspace, own, common)
    : { writes: [common], others: foldersIn(join(common, "worktrees")) };
  const pointer = join(workspace, ".git");
  const isFile = statSync(pointer, { throwIfNoEntry: false })?.isFile();
  return {
    writes: commit.writes,
    held: [
      ...rows(own, isWorktree ? OBEYED : OBEYED_ONCE),
      ...repositoriesIn(join(own, "modules")).flatMap((folder) => rows(folder, OBEYED_ONCE)),
      // Another repository whose objects git would accept as its own.
      ...rows(common, { "objects/info/alternates": "" }),
      ...[...commit.others, ...(isFile ? [pointer] : [])].map((path) => ({ path })),
      { path: hooks, ...(isBelow(hooks, workspace) && { standIn: null }) },
      ...taken
        .filter((path) => isBelow(path, workspace))
        .map((path): HeldPath => ({ path, isWatched: true })),
    ],
  };
}

function rows(folder: string, obeyed: typeof OBEYED): HeldPath[] {
  return Object.entries(obeyed).map(([name, standIn]) => ({
    path: join(folder, name),
    ...(standIn !== undefined && { standIn }),
  }));
}

/** Included files are configuration, too. */
async function includedFiles(workspace: string): Promise<string[]> {
  const asked = ["config", "-z", "--show-origin", "--get-regexp", "^include(if\\..*)?\\.path$"];
  const fields = (await git(workspace, asked)).stdout.split("\0");
  const root = repositoryRoot(workspace) ?? workspace;
  return fields.flatMap((field, index) => {
    const origin = /^file:(.*)$/s.exec(fields[index - 1] ?? "")?.[1];
    const path = field.slice(field.indexOf("\n") + 1);
    if (origin === undefined) return [];
    return [resolve(root, dirname(origin), path.replace(/^~(?=\/)/, homedir()))];
  });
}

/** Folders without branches that a commit adds to. `reftable` has all branches, if the repository uses it. */
const ADDED_TO = ["objects", "lfs", "reftable"];

/**
 * A commit in a worktree needs its own records, an object folder, and its branch. Git writes a branch beside
 * itself and renames it, so the folder is writable; the branches beside it, the `others`, are not.
 */
async function commitFiles(
  workspace: string,
  own: string,
  common: string,
): Promise<{ writes: string[]; others: string[] }> {
  const writes = [own, ...ADDED_TO.map((name) => join(common, name)).filter(existsSync)];
  const branch = (await git(workspace, ["symbolic-ref", "-q", "HEAD"])).stdout.trim();
  if (!branch.startsWith("refs/heads/")) return { writes, others: [] };
  const folders = [dirname(join(common, branch)), dirname(join(common, "logs", branch))];
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  await unpackBranches(workspace, common, dirname(branch));
  const ownNames = [basename(branch), `${basename(branch)}.lock`];
  const others = folders.flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (ownNames.includes(name) ? [] : join(folder, name))),
  );
  return { writes: [...writes, ...folders], others };
}

/** A loose branch that an agent creates overrides a packed one: give each packed branch its loose file. */
async function unpackBranches(workspace: string, common: string, folder: string): Promise<void> {
  const format = "--format=%(objectname) %(refname)";
  const { stdout } = await git(workspace, ["for-each-ref", format, `${folder}/`]);
  for (const line of stdout.split("\n").filter(Boolean)) {
    const [id = "", name = ""] = line.split(" ");
    const [first = "", ...below] = name.slice(folder.length + 1).split("/");
    const path = join(common, folder, first);
    if (existsSync(path)) continue;
    if (below.length > 0) mkdirSync(path);
    else writeFileSync(path, `${id}\n`, { flag: "wx" });
  }
}

/** Names of submodules can contain slashes, and submodules can contain submodules. */
function repositoriesIn(folder: string): string[] {
  return foldersIn(folder).flatMap((path) =>
    existsSync(join(path, "HEAD")) ? [path, ...repositoriesIn(join(path, "modules"))] : repositoriesIn(path),
  );
}

function foldersIn(path: string): string[] {
  const entries = existsSync(path) ? readdirSync(path, { withFileTypes: true }) : [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

function isBelow(path: string, folder: string): boolean {
  const isIn = (above: string): boolean => path.startsWith(`${above}/`);
  return isIn(folder) && !isIn(join(folder, ".git")) && !isBehindLink(path, folder);
}
