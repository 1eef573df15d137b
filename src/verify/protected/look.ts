import { chmodSync, type Dirent, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Patterns } from "../../patterns.js";
import { entryAt } from "./entry.js";

/** A place to look at. */
export interface Root {
  /** As the user knows it, from the project on. */
  shown: string;
  /** Where it is; another place than `shown` where a link leads there. */
  real: string;
  /** The folder above which nothing is looked at or put back. */
  base: string;
  /** It belongs to them whatever the patterns say. */
  whole?: boolean;
}

/** A file, a link, or something else that is no folder. */
export interface Seen extends Omit<Root, "whole"> {
  isLink: boolean;
}

export interface Looked {
  roots: Root[];
  /** By where they are. */
  files: Map<string, Seen>;
  folders: Set<string>;
  /** What is not looked into, but must not appear inside of a protected folder. */
  closed: Map<string, Seen>;
  /** Bytecode of Python, which can stand for another file than the one beside it. */
  compiled: Seen[];
}

/** Never meant by a wildcard: of git, of ralph, or installed. */
const CLOSED = new Set([".git", ".ralph", "node_modules"]);
const BYTECODE = "__pycache__";
/** They bring rules of their own that git ignores them. */
const CACHES = new Set([".pytest_cache", ".mypy_cache", ".ruff_cache"]);

/** All that the patterns mean. Links are followed: what they lead to is meant, too. */
export function lookFor(patterns: Patterns, workspace: string): Looked {
  const roots = patterns.roots.flatMap((shown) => rootsTo(shown, workspace));
  const looked = nothingSeen(roots);
  // It grows while links are found.
  for (const root of roots) {
    const links = visit(root, patterns, looked);
    const known = new Set(roots.map(({ real }) => real));
    roots.push(...links.flatMap((link) => targetOf(link, workspace)).filter(({ real }) => !known.has(real)));
  }
  return looked;
}

/** The same places again, wherever links lead now. */
export function lookAgain(patterns: Patterns, roots: Root[]): Looked {
  const looked = nothingSeen(roots);
  for (const root of roots) visit(root, patterns, looked);
  return looked;
}

function nothingSeen(roots: Root[]): Looked {
  return { roots, files: new Map(), folders: new Set(), closed: new Map(), compiled: [] };
}

/** What a path is known as, if it belongs to the protected files, whether it is there or not. */
export function shownAs(real: string, roots: Root[], patterns: Patterns): string | undefined {
  for (const root of roots) {
    if (real !== root.real && !isWithin(real, root.real)) continue;
    const rest = relative(root.real, real);
    const shown = [root.shown, rest].filter(Boolean).join("/");
    if (root.whole || (patterns.match(shown) && isOpen(shown, rest, patterns))) return shown;
  }
  return undefined;
}

/** Whether no folder on the way is one that a wildcard does not mean. */
function isOpen(shown: string, rest: string, patterns: Patterns): boolean {
  const parts = shown.split("/");
  const first = parts.length - rest.split("/").filter(Boolean).length;
  return parts.every((part, index) => {
    const way = parts.slice(0, index + 1).join("/");
    return (
      index < first || !(CLOSED.has(part) || CACHES.has(part) || part === BYTECODE) || isInside(way, patterns)
    );
  });
}

/** Whether it would be in a folder that is protected as a whole; the project itself is none. */
function isInside(shown: string, patterns: Patterns): boolean {
  return shown.includes("/") && patterns.match(shown);
}

/** A link on the way there is a place of its own, because whoever changes it changes what is found. */
function rootsTo(shown: string, workspace: string): Root[] {
  const parts = shown === "" ? [] : shown.split("/");
  for (let count = 1; count < parts.length; count += 1) {
    const way = parts.slice(0, count).join("/");
    const link: Root = { shown: way, real: join(workspace, way), base: workspace, whole: true };
    if (!entryAt(link.real)?.isSymbolicLink()) continue;
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

export function isWithin(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Returns the links that were found. */
function visit(root: Root, patterns: Patterns, { files, folders, closed, compiled }: Looked): Seen[] {
  if (!isStraight(root)) return [];
  const all = [...walk(root, folders)];
  const found = all.filter((seen) => !isApart(seen) && (root.whole || patterns.match(seen.shown)));
  // What a link leads to may be known by its own name, which says more.
  for (const seen of found) if (!files.has(seen.real)) files.set(seen.real, seen);
  const withFiles = new Set(found.map(({ real }) => dirname(real)));
  for (const seen of all) {
    const isBytecode = basename(seen.real) === BYTECODE;
    if (isBytecode && withFiles.has(dirname(seen.real))) compiled.push(seen);
    else if (!isBytecode && isApart(seen) && isInside(seen.shown, patterns)) closed.set(seen.real, seen);
  }
  compiled.push(...found.filter(({ real }) => /\.py[co]$/.test(real)));
  return found.filter(({ isLink }) => isLink);
}

/** Whether it is not looked into, and stands for all that is in it. */
function isApart({ real }: Seen): boolean {
  return basename(real) === BYTECODE || CLOSED.has(basename(real));
}

function* walk({ shown, real, base }: Root, folders: Set<string>): Generator<Seen> {
  const stat = entryAt(real);
  if (stat === undefined) return;
  if (!stat.isDirectory()) {
    yield { shown, real, base, isLink: stat.isSymbolicLink() };
    return;
  }
  folders.add(real);
  for (const entry of entriesOf(real)) {
    const inside = {
      shown: shown === "" ? entry.name : `${shown}/${entry.name}`,
      real: join(real, entry.name),
    };
    const seen: Seen = { ...inside, base, isLink: entry.isSymbolicLink() };
    if (CACHES.has(entry.name)) continue;
    if (entry.isDirectory() && !isApart(seen)) yield* walk(seen, folders);
    else yield seen;
  }
}

/** Whether no link stands on the way from the base to it. */
function isStraight({ real, base }: Root): boolean {
  const parts = relative(base, dirname(real)).split("/").filter(Boolean);
  return parts.every((_, index) => {
    const stat = entryAt(join(base, ...parts.slice(0, index + 1)));
    return stat?.isDirectory() === true;
  });
}

/** Nobody hides what is in a folder by closing it. */
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
