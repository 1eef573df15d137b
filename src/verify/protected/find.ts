import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { orElse } from "../../errors.js";
import type { Patterns } from "../../patterns.js";
import { writeAtomic, writeFresh } from "../../records/files.js";
import { stateOf, statOf, textAt } from "../../workspace/content.js";

export interface Root {
  /** As the user knows it, from the project on. */
  shown: string;
  /** Differs from `shown` where a link leads there. */
  real: string;
  /** Nothing above this folder is searched or put back. */
  base: string;
  /** Everything here is protected, whatever the patterns say. */
  whole?: boolean;
}

/** A file, a link, or anything else that is not a folder. */
export interface PathEntry extends Omit<Root, "whole"> {
  isLink: boolean;
}

interface Inventory {
  roots: Root[];
  files: Map<string, PathEntry>;
  folders: Set<string>;
  /** Folders that are not searched, but must not appear inside a protected folder; by their real paths. */
  closed: Map<string, PathEntry>;
  /** Bytecode of Python: it can stand for another file than the one beside it. */
  bytecode: PathEntry[];
}

/** No wildcard means these: they belong to git and ralph, or are installed. */
const CLOSED = new Set([".git", ".ralph", "node_modules"]);
const BYTECODE = "__pycache__";
/** They bring their own rules that git ignores them. */
const CACHES = new Set([".pytest_cache", ".mypy_cache", ".ruff_cache"]);

/**
 * All files that the patterns name. Links are followed: what they lead to is protected as well. With `known` the
 * same places are searched again, wherever links lead by now.
 */
export function findFiles(patterns: Patterns, workspace: string, known?: Root[]): Inventory {
  const roots = known ?? patterns.roots.flatMap((shown) => rootsTo(shown, workspace));
  const files: Inventory["files"] = new Map();
  const folders = new Set<string>();
  const apart: PathEntry[] = [];
  // The list grows while links are found.
  for (const root of roots) {
    const all = isStraight(root) ? [...walk(root, folders)] : [];
    const found = all.filter((entry) => !isApart(entry) && (root.whole || patterns.match(entry.shown)));
    apart.push(...all.filter(isApart));
    // A file that a link leads to may be known by its own name, which says more.
    for (const entry of found) if (!files.has(entry.real)) files.set(entry.real, entry);
    const links = known === undefined ? found.filter(({ isLink }) => isLink) : [];
    const targets = links.flatMap((link) => targetOf(link, workspace));
    roots.push(...targets.filter(({ real }) => !roots.some((other) => other.real === real)));
  }
  const withFiles = new Set([...files.keys()].map((real) => dirname(real)));
  const isCompiled = ({ real }: PathEntry): boolean =>
    basename(real) === BYTECODE ? withFiles.has(dirname(real)) : /\.py[co]$/.test(real);
  const closed = apart.filter(({ real, shown }) => basename(real) !== BYTECODE && isInside(shown, patterns));
  return {
    ...{ roots, files, folders },
    closed: new Map(closed.map((entry) => [entry.real, entry])),
    bytecode: [...apart, ...files.values()].filter(isCompiled),
  };
}

/** A link on the way there is a root of its own: changing it changes what is found. */
function rootsTo(shown: string, workspace: string): Root[] {
  const parts = shown.split("/");
  for (let count = 1; count < parts.length; count += 1) {
    const way = parts.slice(0, count).join("/");
    const link: Root = { shown: way, real: join(workspace, way), base: workspace, whole: true };
    if (statOf(link.real)?.isSymbolicLink())
      return [link, ...targetOf({ shown, real: join(workspace, shown) }, workspace)];
  }
  return [{ shown, real: join(workspace, shown), base: workspace }];
}

function targetOf({ shown, real }: Pick<Root, "shown" | "real">, workspace: string): Root[] {
  const target = orElse(() => realpathSync(real), undefined);
  if (target === undefined) return [];
  return [{ shown, real: target, base: isWithin(target, workspace) ? workspace : dirname(target) }];
}

/** Whether it is not searched, and stands for all that is in it. */
function isApart({ real }: PathEntry): boolean {
  return basename(real) === BYTECODE || CLOSED.has(basename(real));
}

function* walk({ shown, real, base }: Root, folders: Set<string>): Generator<PathEntry> {
  const stat = statOf(real);
  if (stat?.isDirectory() === false) yield { shown, real, base, isLink: stat.isSymbolicLink() };
  if (!stat?.isDirectory()) return;
  folders.add(real);
  for (const found of entriesOf(real, stat)) {
    const name = shown === "" ? found.name : `${shown}/${found.name}`;
    const entry = { shown: name, real: join(real, found.name), base, isLink: found.isSymbolicLink() };
    if (CACHES.has(found.name)) continue;
    if (found.isDirectory() && !isApart(entry)) yield* walk(entry, folders);
    else yield entry;
  }
}

const READABLE = 0o500;

/** An agent cannot hide files by closing their folder. */
function entriesOf(folder: string, { mode }: Stats) {
  try {
    if ((mode & READABLE) !== READABLE) chmodSync(folder, mode | READABLE);
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The name of a path of the workspace that is protected, whether a file is there or not. */
export function protectedName(real: string, workspace: string, patterns: Patterns): string | undefined {
  const shown = relative(workspace, real);
  if (!isWithin(real, workspace) || !patterns.match(shown)) return undefined;
  const parts = shown.split("/");
  const isOpen = (part: string, index: number): boolean =>
    !CLOSED.has(part) || isInside(parts.slice(0, index + 1).join("/"), patterns);
  return parts.every(isOpen) ? shown : undefined;
}

/** Whether it would be in a folder that is protected as a whole; the project itself is none. */
function isInside(shown: string, patterns: Patterns): boolean {
  return shown.includes("/") && patterns.match(shown);
}

/** Whether there are only folders between the base and it. */
function isStraight({ real, base }: Pick<Root, "real" | "base">): boolean {
  const above = dirname(real);
  if (real === base || above === base) return true;
  return statOf(above)?.isDirectory() === true && isStraight({ real: above, base });
}

export function isWithin(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** A file or a link as it was when the snapshot was taken. */
export interface FileCopy extends PathEntry {
  copy: string;
  mode: number;
  state: string;
}

/** undefined: a pipe or a socket has nothing that could be put back. */
export function copyOf(entry: PathEntry, folder: string, copy: string): FileCopy | undefined {
  const stat = statOf(entry.real);
  if (!stat?.isFile() && !stat?.isSymbolicLink()) return undefined;
  const path = join(folder, copy);
  cpSync(entry.real, path, { verbatimSymlinks: true });
  if (stat.isFile()) chmodSync(path, 0o600);
  return { ...entry, copy, mode: stat.mode & 0o7777, state: stateOf(entry.real, Number.POSITIVE_INFINITY) };
}

/** How a file differs from what it was; undefined: not at all. */
export function differenceOf({ real, state }: FileCopy): "changed" | "deleted" | undefined {
  const now = stateOf(real, Number.POSITIVE_INFINITY);
  if (now === state) return undefined;
  return now === "gone" ? "deleted" : "changed";
}

/** Puts a file in the place of whatever is there. */
export function putBack({ real, base, copy, mode }: FileCopy, folder: string): void {
  makeWay(dirname(real), base);
  remove(real);
  cpSync(join(folder, copy), real, { verbatimSymlinks: true });
  if (statOf(real)?.isFile()) chmodSync(real, mode);
}

/** The same for a file of the workspace whose text is known. */
export function putTextBack(workspace: string, name: string, text: string): void {
  const path = join(workspace, name);
  makeWay(dirname(path), workspace);
  remove(path);
  writeFresh(path, text);
}

/** A file whose text is known; undefined: there is none. `kept`: where another version is kept. */
export interface KnownText {
  file: string;
  text: string | undefined;
  kept?: string;
}

/** Puts back the files that hold another text. Returns them; `kept` is left out where nothing had to be kept. */
export function putTextsBack(workspace: string, known: KnownText[]): KnownText[] {
  return known.flatMap(({ file, text, kept }) => {
    const found = textAt(join(workspace, file));
    if (found === text) return [];
    if (found !== undefined && kept !== undefined) writeAtomic(kept, found);
    if (text === undefined) remove(join(workspace, file));
    else putTextBack(workspace, file, text);
    return [{ file, text, ...(found !== undefined && kept !== undefined && { kept }) }];
  });
}

/** Removes whatever is there. For a file that stays, `rmSync` would report another error than the one that counts. */
export function remove(path: string): void {
  const stat = statOf(path);
  if (stat?.isDirectory()) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  else if (stat !== undefined) unlinkSync(path);
}

/** Removes the folders that were made for a file. */
export function removeFolders({ real, base }: PathEntry, known: Set<string>): void {
  for (let above = dirname(real); isWithin(above, base) && !known.has(above); above = dirname(above)) {
    if (statOf(above) === undefined || readdirSync(above).length > 0) return;
    rmdirSync(above);
  }
}

const OWN = 0o700;

/** Makes every part of the way a folder: a link in between would lead elsewhere. */
function makeWay(folder: string, base: string): void {
  if (!isWithin(folder, base)) return;
  makeWay(dirname(folder), base);
  const stat = statOf(folder);
  if (!stat?.isDirectory()) {
    rmSync(folder, { force: true });
    mkdirSync(folder);
  } else if ((stat.mode & OWN) !== OWN) chmodSync(folder, stat.mode | OWN);
}

/** Moves what an agent made into the records, so that it is not lost. Returns where it is now; a link is not kept. */
export function keepAside({ real, shown, base }: PathEntry, folder: string): string | undefined {
  const stat = statOf(real);
  if (!stat?.isFile() && !stat?.isDirectory()) {
    remove(real);
    return undefined;
  }
  // An agent may have closed the folder that it is in.
  makeWay(dirname(real), base);
  const path = join(folder, "protected", shown);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    renameSync(real, path);
  } catch {
    // The records may be on another disk.
    cpSync(real, path, { recursive: true, verbatimSymlinks: true });
    remove(real);
  }
  chmodSync(path, 0o600);
  return path;
}
