import { chmodSync, type Dirent, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Patterns } from "../../patterns.js";
import { statOf } from "../../workspace/content.js";

/** Where protected files may be. */
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
export interface Entry extends Omit<Root, "whole"> {
  isLink: boolean;
}

export interface Inventory {
  roots: Root[];
  /** By their real paths. */
  files: Map<string, Entry>;
  folders: Set<string>;
  /** Folders that are not searched, but must not appear inside a protected folder. */
  closed: Map<string, Entry>;
  /** Bytecode of Python: it can stand for another file than the one beside it. */
  compiled: Entry[];
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
  const found: Inventory = { roots, files: new Map(), folders: new Set(), closed: new Map(), compiled: [] };
  // The list grows while links are found.
  for (const root of roots) {
    const links = search(root, patterns, found);
    if (known !== undefined) continue;
    const targets = links.flatMap((link) => targetOf(link, workspace));
    roots.push(...targets.filter(({ real }) => !roots.some((other) => other.real === real)));
  }
  return found;
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
  try {
    const target = realpathSync(real);
    return [{ shown, real: target, base: isWithin(target, workspace) ? workspace : dirname(target) }];
  } catch {
    return [];
  }
}

/** Adds what is found at the root, and returns the links among it. */
function search(root: Root, patterns: Patterns, { files, folders, closed, compiled }: Inventory): Entry[] {
  const all = isStraight(root) ? [...walk(root, folders)] : [];
  const found = all.filter((entry) => !isApart(entry) && (root.whole || patterns.match(entry.shown)));
  // A file that a link leads to may be known by its own name, which says more.
  for (const entry of found) if (!files.has(entry.real)) files.set(entry.real, entry);
  const withFiles = new Set(found.map(({ real }) => dirname(real)));
  for (const entry of all.filter(isApart)) {
    if (basename(entry.real) === BYTECODE) {
      if (withFiles.has(dirname(entry.real))) compiled.push(entry);
    } else if (isInside(entry.shown, patterns)) closed.set(entry.real, entry);
  }
  compiled.push(...found.filter(({ real }) => /\.py[co]$/.test(real)));
  return found.filter(({ isLink }) => isLink);
}

/** Whether it is not searched, and stands for all that is in it. */
function isApart({ real }: Entry): boolean {
  return basename(real) === BYTECODE || CLOSED.has(basename(real));
}

function* walk({ shown, real, base }: Root, folders: Set<string>): Generator<Entry> {
  const stat = statOf(real);
  if (stat?.isDirectory() === false) yield { shown, real, base, isLink: stat.isSymbolicLink() };
  if (!stat?.isDirectory()) return;
  folders.add(real);
  for (const found of entriesOf(real)) {
    const name = shown === "" ? found.name : `${shown}/${found.name}`;
    const entry = { shown: name, real: join(real, found.name), base, isLink: found.isSymbolicLink() };
    if (CACHES.has(found.name)) continue;
    if (found.isDirectory() && !isApart(entry)) yield* walk(entry, folders);
    else yield entry;
  }
}

/** The name of a path if it is protected, whether a file is there or not. */
export function protectedName(real: string, roots: Root[], patterns: Patterns): string | undefined {
  for (const root of roots) {
    if (real !== root.real && !isWithin(real, root.real)) continue;
    const rest = relative(root.real, real).split("/").filter(Boolean);
    const way = [root.shown, ...rest].filter(Boolean);
    const isOpen = (part: string, index: number): boolean =>
      index < way.length - rest.length ||
      !(CLOSED.has(part) || CACHES.has(part) || part === BYTECODE) ||
      isInside(way.slice(0, index + 1).join("/"), patterns);
    const shown = way.join("/");
    if (root.whole || (patterns.match(shown) && way.every(isOpen))) return shown;
  }
  return undefined;
}

/** Whether it would be in a folder that is protected as a whole; the project itself is none. */
function isInside(shown: string, patterns: Patterns): boolean {
  return shown.includes("/") && patterns.match(shown);
}

/** Whether there are only folders between the base and it. */
function isStraight({ real, base }: Root): boolean {
  if (real === base || dirname(real) === base) return true;
  return (
    statOf(dirname(real))?.isDirectory() === true && isStraight({ shown: "", real: dirname(real), base })
  );
}

/** An agent cannot hide files by closing their folder. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    try {
      chmodSync(folder, 0o755);
      return readdirSync(folder, { withFileTypes: true });
    } catch {
      return [];
    }
  }
}

export function isWithin(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
