import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { orElse } from "../errors.js";

export type WhichResult =
  | { status: "found"; path: string }
  | { status: "not_found" }
  | { status: "not_executable"; path: string };

/** Finds a program as the shell would: a name on PATH, anything with a slash as a path. */
export function which(program: string, cwd: string, path = process.env["PATH"] ?? ""): WhichResult {
  const folders = path.split(delimiter).filter(Boolean);
  const places = program.includes("/") ? [resolve(cwd, program)] : folders.map((name) => join(name, program));
  const files = program === "" ? [] : places.filter(isFile);
  const found = files.find(isExecutable);
  if (found !== undefined) return { status: "found", path: found };
  return files[0] === undefined ? { status: "not_found" } : { status: "not_executable", path: files[0] };
}

function isFile(path: string): boolean {
  return orElse(() => statSync(path).isFile(), false);
}

function isExecutable(path: string): boolean {
  return orElse(() => accessSync(path, constants.X_OK) === undefined, false);
}

/** The environment without the project's folders on PATH, where an agent could leave its own `git`. */
export function withOuterPath(env: NodeJS.ProcessEnv, workspace: string): NodeJS.ProcessEnv {
  const path = env["PATH"];
  return path === undefined ? env : { ...env, PATH: outerPath(path, workspace) };
}

const SYSTEM = ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
let last: { path: string; workspace: string; outer: string } | undefined;

/** PATH without folders in the workspace and without relative folders. */
export function outerPath(path: string, workspace: string): string {
  if (last?.path === path && last.workspace === workspace) return last.outer;
  const above = bothNames(workspace);
  const isInside = (name: string): boolean => above.some((folder) => `${name}/`.startsWith(`${folder}/`));
  const folders = path.split(delimiter).filter((name) => isAbsolute(name) && !bothNames(name).some(isInside));
  // An empty PATH would mean the current folder.
  last = { path, workspace, outer: folders.join(delimiter) || SYSTEM };
  return last.outer;
}

function bothNames(path: string): string[] {
  return orElse(() => [path, realpathSync(path)], [path]);
}
