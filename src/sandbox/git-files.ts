import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { ofWorktree } from "./git-worktree.js";
import type { Place } from "./places.js";
import { isBehindLink } from "./protected.js";

/** What git has to write for a commit, and what in it would make other programs run things. */
export interface GitFiles {
  /** The repository, and the records of the worktree in it. */
  folders: string[];
  writes: string[];
  protects: string[];
  /** What must not come to be. */
  places: Place[];
}

export async function gitFiles(workspace: string): Promise<GitFiles> {
  const asked = ["--git-dir", "--git-common-dir", "--git-path", "hooks"];
  const [{ ok, stdout }, taken] = await Promise.all([
    git(workspace, ["rev-parse", "--path-format=absolute", ...asked], { hooks: true }),
    includedFiles(workspace),
  ]);
  const [own, common, hooks, ...more] = stdout.trim().split("\n");
  if (!ok || own === undefined || common === undefined || hooks === undefined)
    return { folders: [], writes: [], protects: [], places: [] };
  if (more.length > 0) throw hasLineBreak(workspace);
  insistOnOneRepository(own, common);
  mkdirSync(join(common, "hooks"), { recursive: true });
  const repository = own === common ? ofCheckout(common) : await ofWorktree(workspace, own, common);
  const modules = repositoriesIn(join(own, "modules"));
  const pointer = join(workspace, ".git");
  const included = taken.filter((path) => isBelow(path, workspace));
  const protects = [own, ...modules].flatMap(obeyed).concat(repository.protects, hooks, included);
  if (statSync(pointer, { throwIfNoEntry: false })?.isFile()) protects.push(pointer);
  return {
    folders: [...new Set([common, own])],
    writes: repository.writes,
    protects: [...new Set(protects)],
    places: [
      ...placesIn(own, own === common),
      ...modules.flatMap((path) => placesIn(path, true)),
      ...(isBelow(hooks, workspace) ? [{ path: hooks }] : []),
      ...included.map((path): Place => ({ path, isWatched: true })),
    ],
  };
}

type Repository = Pick<GitFiles, "writes" | "protects">;

/** The folder by itself, too: what is mounted cannot be moved away. */
function ofCheckout(common: string): Repository {
  return { writes: [common], protects: foldersIn(join(common, "worktrees")) };
}

/** Files that the configuration takes in are configuration, too. */
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

function hasLineBreak(workspace: string): RalphError {
  const name = JSON.stringify(workspace);
  return new RalphError(
    `the repository of ${name}, or the folder of its hooks, has a line break in its name`,
    {
      code: "sandbox_failed",
      hint: "what git obeys there cannot be told apart: give it another name",
    },
  );
}

/** Only the records of a worktree name another folder. */
function insistOnOneRepository(own: string, common: string): void {
  if (own === common || dirname(own) === join(common, "worktrees")) return;
  throw new RalphError(`${join(own, "commondir")} makes git obey another repository: ${common}`, {
    code: "sandbox_failed",
    hint: "git does not write it there: look at it, and remove it",
  });
}

/** `remotes` and `branches` hold addresses, as git kept them in its first years, and obeys them still. */
const OBEYED = [
  "hooks",
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "info/attributes",
  "remotes",
  "branches",
];

function obeyed(folder: string): string[] {
  return OBEYED.map((name) => join(folder, name));
}

/** An empty `commondir` would be an error, and `.` is what git does without it. */
const STAND_INS = { commondir: ".\n", "config.worktree": "", "info/attributes": "" };

/** Attributes and old addresses are those of the repository, also in a worktree. */
function placesIn(folder: string, isWhole: boolean): Place[] {
  const places = Object.entries(STAND_INS).map(([name, content]) => ({ path: join(folder, name), content }));
  const addresses = ["remotes", "branches"].map((name): Place => ({ path: join(folder, name) }));
  return isWhole ? [...places, ...addresses] : places.filter(({ path }) => !path.endsWith("attributes"));
}

/** Names of submodules can have slashes, and submodules can have submodules. */
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
