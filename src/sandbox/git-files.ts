import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { git } from "../workspace/git.js";

/** What git has to write for a commit, and what in it would make other programs run things. */
export interface GitFiles {
  writes: string[];
  protects: string[];
}

/** In a worktree, most of it lies in the repository that it belongs to. */
export async function gitFiles(workspace: string): Promise<GitFiles> {
  const asked = ["--git-dir", "--git-common-dir", "--git-path", "hooks"];
  const { ok, stdout } = await git(workspace, ["rev-parse", "--path-format=absolute", ...asked]);
  const [own, common, hooks] = stdout.trim().split("\n");
  if (!ok || own === undefined || common === undefined || hooks === undefined)
    return { writes: [], protects: [] };
  mkdirSync(join(common, "hooks"), { recursive: true });
  const others = foldersIn(join(common, "worktrees")).filter((path) => path !== own);
  const modules = foldersIn(join(common, "modules")).flatMap(obeyed);
  const pointer = join(workspace, ".git");
  const protects = [...obeyed(common), ...obeyed(own), hooks, ...modules, ...others];
  if (statSync(pointer, { throwIfNoEntry: false })?.isFile()) protects.push(pointer);
  return {
    // The folders by themselves, too: what is mounted cannot be moved away.
    writes: [...new Set([common, own])],
    protects: [...new Set(protects)].filter((path) => existsSync(path)),
  };
}

const OBEYED = ["hooks", "config", "config.worktree", "commondir", "gitdir", "info/attributes"];

function obeyed(folder: string): string[] {
  return OBEYED.map((name) => join(folder, name));
}

function foldersIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
}
