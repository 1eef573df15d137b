import { chmodSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { orElse } from "../../errors.js";
import type { Patterns } from "../../patterns.js";
import { statOf } from "../../workspace/content.js";

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
