import { realpathSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";

/**
 * The environment of a program that ralph runs for itself, while an agent writes in the workspace: `npx` and
 * `npm run` put folders of the project on PATH, where it could leave a `git` of its own.
 */
export function withOuterPath(env: NodeJS.ProcessEnv, workspace: string): NodeJS.ProcessEnv {
  const path = env["PATH"];
  return path === undefined ? env : { ...env, PATH: outerPath(path, workspace) };
}

let last: { path: string; workspace: string; outer: string } | undefined;

/** PATH without what lies in the workspace, and without folders that depend on where somebody is. */
export function outerPath(path: string, workspace: string): string {
  if (last?.path === path && last.workspace === workspace) return last.outer;
  const here = [workspace, real(workspace)];
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !isIn(folder, here));
  // An empty one would mean the folder where somebody is.
  last = { path, workspace, outer: folders.join(delimiter) || SYSTEM };
  return last.outer;
}

const SYSTEM = ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);

function isIn(folder: string, here: string[]): boolean {
  return [folder, real(folder)].some((name) => here.some((above) => `${name}/`.startsWith(`${above}/`)));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
