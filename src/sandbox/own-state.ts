import { accessSync, constants, cpSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { StateFolder } from "../agents/agent.js";
import { makeFolders, realPlace } from "../records/files.js";
import type { SandboxScope } from "./sandbox.js";

/** Folders that agents must write to. Only existing ones can be made writable. */
export function stateFolders({ agents, home, env, workspace }: SandboxScope): StateFolder[] {
  const all = new Set(agents.flatMap(({ needs }) => needs?.state ?? []));
  const found = [...all].flatMap((state) => {
    const { variable, folder } = state;
    const base = variable === undefined ? "" : env[variable] || join(home, folder);
    const path = resolve(workspace, base, state.path);
    if (variable === undefined && !lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
    makeFolders(path);
    return [{ ...state, path: realPlace(path) }];
  });
  return found.filter(({ path }) => !isIn(workspace, path));
}

export function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(folder === "/" ? folder : `${folder}/`);
}

/**
 * Outside programs obey the content of such a folder, so each run has its own copy in `copies`. Folders with
 * programs and settings appear unchanged. The agent writes to the user's own files only where it renews its
 * login, or where the user allows it. Returns flags of bubblewrap.
 */
export function ownState(
  folders: StateFolder[],
  copies: string,
  { hidden, allowed }: { hidden: string[]; allowed: string[] },
): string[] {
  const isHidden = (path: string): boolean => hidden.some((one) => isIn(path, one));
  const taken = folders.filter(({ path }) => !isHidden(path) && !allowed.some((one) => isIn(path, one)));
  return taken.flatMap(({ path, beginsEmpty, obeys = [], renews = [] }, index) => {
    const inside = (names: string[]): string[] => names.map((name) => join(path, name));
    const isShown = (at: string): boolean =>
      lstatSync(at, { throwIfNoEntry: false })?.isDirectory() === true &&
      !hidden.some((one) => isIn(one, at));
    const shown = inside(obeys).filter(isShown);
    const isFile = (at: string): boolean => statSync(at, { throwIfNoEntry: false })?.isFile() === true;
    const shared = [...inside(renews).filter(isFile), ...allowed.filter((one) => isIn(one, path))];
    const copy = join(copies, String(index));
    mkdirSync(copy, { recursive: true, mode: 0o700 });
    const left = [...shown, ...shared, ...hidden];
    const isCopied = (at: string): boolean => at === path || (!left.includes(at) && isSmall(at));
    if (!beginsEmpty) cpSync(path, copy, { recursive: true, verbatimSymlinks: true, filter: isCopied });
    return [
      ...["--bind", copy, path],
      ...shown.flatMap((at) => ["--ro-bind", at, at]),
      ...shared.filter((at) => !isHidden(at)).flatMap((at) => ["--bind", realPlace(at), at]),
    ];
  });
}

/** For one folder; a folder with more files is a history or a cache, and starts empty. */
const MOST_FILES = 300;
const MOST_BYTES = 8 * 1024 * 1024;
/** They can be in the middle of a change. */
const DATABASE = /\.(sqlite\d*|db)(-\w+)?$/;

/** Files and links that this user can read, and small folders. */
function isSmall(top: string): boolean {
  let [files, bytes] = [0, 0];
  const fits = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    files += 1;
    bytes += stat?.size ?? 0;
    if (files > MOST_FILES || bytes > MOST_BYTES) return false;
    return !stat?.isDirectory() || readdirSync(path).every((name) => fits(join(path, name)));
  };
  try {
    const stat = lstatSync(top);
    if (stat.isSymbolicLink()) return true;
    accessSync(top, constants.R_OK);
    return (stat.isDirectory() || (stat.isFile() && !DATABASE.test(top))) && fits(top);
  } catch {
    // An agent outside has just removed it, or this user may not read it.
    return false;
  }
}
