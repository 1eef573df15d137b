import { chmodSync, type Dirent, readdirSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
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
}

/** Never meant by a wildcard: of git, of ralph, or made by programs. */
const SKIPPED = new Set([
  ...[".git", ".ralph", "node_modules", "__pycache__"],
  // They bring rules of their own that git ignores them.
  ...[".pytest_cache", ".mypy_cache", ".ruff_cache"],
]);

/** All that the patterns mean. Links are followed: what they lead to is meant, too. */
export function lookFor(patterns: Patterns, workspace: string): Looked {
  const roots = patterns.roots.flatMap((shown) => rootsTo(shown, workspace));
  const looked: Looked = { roots, files: new Map(), folders: new Set() };
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
  const looked: Looked = { roots, files: new Map(), folders: new Set() };
  for (const root of roots) visit(root, patterns, looked);
  return looked;
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
function visit(root: Root, patterns: Patterns, { files, folders }: Looked): Seen[] {
  if (!isStraight(root)) return [];
  const found = [...walk(root, folders)].filter(({ shown }) => root.whole || patterns.match(shown));
  // What a link leads to may be known by its own name, which says more.
  for (const seen of found) if (!files.has(seen.real)) files.set(seen.real, seen);
  return found.filter(({ isLink }) => isLink);
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
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory()) yield* walk({ ...inside, base }, folders);
    else yield { ...inside, base, isLink: entry.isSymbolicLink() };
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
