import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { StateFolder } from "../agents/agent.js";
import { systemErrorCode } from "../errors.js";
import { makeFolders, realPlace } from "../records/files.js";
import type { SandboxScope } from "./sandbox.js";

/** Folders that agents have to write to work at all. Only what is there can be let through. */
export function stateFolders({ agents, home, env, workspace }: SandboxScope): StateFolder[] {
  const all = new Set(agents.flatMap(({ needs }) => needs?.state ?? []));
  const found = [...all].flatMap((state) => {
    const { variable, folder } = state;
    const base = variable === undefined ? "" : env[variable] || join(home, folder);
    const path = resolve(workspace, base, state.path);
    if (variable === undefined && !isFolder(path)) return [];
    makeFolders(path);
    return [{ ...state, path: realPlace(path) }];
  });
  return found.filter(({ path }) => !isIn(workspace, path));
}

export function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(folder === "/" ? folder : `${folder}/`);
}

/**
 * Programs outside obey what is in such a folder, so that each run has a copy of its own in `copies`. Folders of
 * programs and settings are shown as they are. What the agent renews, and what the user lets it write, is the user's
 * own. Returns flags of bubblewrap.
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
    const shown = inside(obeys).filter((at) => isFolder(at) && !hidden.some((one) => isIn(one, at)));
    const shared = [...inside(renews).filter(isFile), ...allowed.filter((one) => isIn(one, path))];
    const copy = join(copies, String(index));
    mkdirSync(copy, { recursive: true, mode: 0o700 });
    if (!beginsEmpty) copyInto(copy, path, [...shown, ...shared, ...hidden]);
    return [
      ...["--bind", copy, path],
      ...shown.flatMap((at) => ["--ro-bind", at, at]),
      ...shared.filter((at) => !isHidden(at)).flatMap((at) => ["--bind", realPlace(at), at]),
    ];
  });
}

/** Of one folder: what holds more is history or a cache, and begins empty. */
const MOST_FILES = 300;
const MOST_BYTES = 8 * 1024 * 1024;
/** They can be in the middle of a change. */
const DATABASE = /\.(sqlite\d*|db)(-\w+)?$/;

function copyInto(target: string, folder: string, except: string[]): void {
  for (const name of readdirSync(folder).filter((each) => !except.includes(join(folder, each)))) {
    const [from, to] = [join(folder, name), join(target, name)];
    try {
      const stat = lstatSync(from);
      if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
      else if (stat.isFile() && stat.size <= MOST_BYTES && !DATABASE.test(from)) copyFileSync(from, to);
      else if (stat.isDirectory() && isSmall(from)) {
        mkdirSync(to);
        copyInto(to, from, except);
      }
    } catch (error) {
      // An agent outside has just removed it, or this user may not read it.
      if (!["ENOENT", "EACCES"].includes(systemErrorCode(error) ?? "")) throw error;
    }
  }
}

function isSmall(folder: string): boolean {
  let [files, bytes] = [0, 0];
  const fits = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    files += 1;
    bytes += stat?.size ?? 0;
    if (files > MOST_FILES || bytes > MOST_BYTES) return false;
    return !stat?.isDirectory() || readdirSync(path).every((name) => fits(join(path, name)));
  };
  return fits(folder);
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
