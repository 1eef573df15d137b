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
import type { SandboxPlace } from "./sandbox.js";
import { isIn } from "./srt-sense.js";

/** What stands at a path inside, in place of what is there outside. */
export interface Mount {
  from: string;
  at: string;
  isWritable: boolean;
}

/** As bubblewrap takes them from a file. */
export function mountFlags(mounts: Mount[]): string {
  const flags = mounts.flatMap(({ from, at, isWritable }) => [isWritable ? "--bind" : "--ro-bind", from, at]);
  return flags.map((flag) => `${flag}\0`).join("");
}

interface Bounds {
  /** Where the copies are made. */
  folder: string;
  /** What must not be read. */
  hidden: string[];
  /** What the user lets agents write. */
  allowed: string[];
}

/** Folders that agents have to write to work at all. Only what is there can be let through. */
export function stateFolders({ agents, home, env, workspace }: SandboxPlace): StateFolder[] {
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

/**
 * Programs outside obey what is in such a folder, so that each run has a copy of its own. Folders of programs and
 * settings are shown as they are. What the agent renews, and what the user lets it write, is the user's own.
 */
export function ownState(folders: StateFolder[], { folder, hidden, allowed }: Bounds): Mount[] {
  const isHidden = (path: string): boolean => hidden.some((one) => isIn(path, one));
  const taken = folders.filter(({ path }) => !isHidden(path) && !allowed.some((one) => isIn(path, one)));
  return taken.flatMap(({ path, beginsEmpty, obeys = [], renews = [] }, index) => {
    const from = (names: string[]): string[] => names.map((name) => join(path, name));
    const shown = from(obeys).filter((at) => isFolder(at) && !hidden.some((one) => isIn(one, at)));
    const shared = [...from(renews).filter(isFile), ...allowed.filter((one) => isIn(one, path))];
    const copy = join(folder, String(index));
    mkdirSync(copy, { recursive: true, mode: 0o700 });
    if (!beginsEmpty) copyFolder(path, copy, [...shown, ...shared, ...hidden]);
    return [
      { from: copy, at: path, isWritable: true },
      ...shown.map((at) => ({ from: at, at, isWritable: false })),
      ...shared.filter((at) => !isHidden(at)).map((at) => ({ from: realPlace(at), at, isWritable: true })),
    ];
  });
}

/** Of one folder: what holds more is history or a cache, and begins empty. */
const MOST_FILES = 300;
const MOST_BYTES = 8 * 1024 * 1024;
/** They can be in the middle of a change. */
const DATABASE = /\.(sqlite\d*|db)(-\w+)?$/;

function copyFolder(from: string, to: string, apart: string[]): void {
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    try {
      if (!apart.includes(path)) copyEntry(path, join(to, name), apart);
    } catch (error) {
      // An agent outside has just taken it away, or it is not for this user.
      if (!["ENOENT", "EACCES"].includes(systemErrorCode(error) ?? "")) throw error;
    }
  }
}

function copyEntry(from: string, to: string, apart: string[]): void {
  const stat = lstatSync(from);
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (stat.isFile() && stat.size <= MOST_BYTES && !DATABASE.test(from)) copyFileSync(from, to);
  else if (stat.isDirectory() && isSmall(from)) {
    mkdirSync(to);
    copyFolder(from, to, apart);
  }
}

function isSmall(folder: string): boolean {
  const left = { files: MOST_FILES, bytes: MOST_BYTES };
  const isLess = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    left.files -= 1;
    left.bytes -= stat?.size ?? 0;
    if (left.files < 0 || left.bytes < 0) return false;
    return !stat?.isDirectory() || readdirSync(path).every((name) => isLess(join(path, name)));
  };
  return isLess(folder);
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
