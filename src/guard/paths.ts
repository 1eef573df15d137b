import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, normalize, resolve } from "node:path";
import type { Where } from "./call.js";
import { hasPattern, isUnknown, UNKNOWN } from "./text.js";

export const TEMPORARY = /^\/(private\/)?(tmp|var\/tmp|dev\/shm|var\/folders)(\/|$)/;

/** Where a path leads, by its text alone. Patterns and unknown parts stay in it. */
export function resolvePath(path: string, where: Where): string {
  const expanded = path.startsWith("~") ? withHome(path, where) : path;
  const absolute = /^[/\uE0FF]/.test(expanded) ? expanded : `${where.cwd}/${expanded}`;
  if (!absolute.startsWith(UNKNOWN)) return resolve(absolute);
  const plain = normalize(absolute);
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain;
}

function withHome(path: string, { site }: Where): string {
  const [, user = "", rest = ""] = /^~([^/]*)(.*)$/s.exec(path) ?? [];
  if (user === "") return site.home + rest;
  return user === "root" ? `/root${rest}` : `/home/${user}${rest}`;
}

const LONGEST = 4096;
const known = new Map<string, string>();

/** Links may have changed since the last command. */
export function forgetLinks(): void {
  known.clear();
}

/** The same, following links. A link to a missing file leads there too: writing creates the file. */
export function followLinks(path: string): string {
  if (isUnknown(path) || hasPattern(path) || path.length > LONGEST) return path;
  const before = known.get(path);
  if (before !== undefined) return before;
  // Set before it is known where the link leads, because a link may lead to itself.
  known.set(path, path);
  const real = realPath(path);
  known.set(path, real);
  return real;
}

function realPath(path: string): string {
  try {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry !== undefined && !entry.isSymbolicLink()) return realpathSync.native(path);
    const above = dirname(path);
    if (above === path) return path;
    const folder = followLinks(above);
    return entry === undefined
      ? join(folder, basename(path))
      : followLinks(resolve(folder, readlinkSync(path)));
  } catch {
    return path;
  }
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`);
}
