import { realpathSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { isUnknown, UNKNOWN } from "./call.js";
import type { Scope } from "./shell/scope.js";

/** Where a path leads, by its text alone. Patterns and what is unknown stay in it. */
export function resolvePath(path: string, scope: Pick<Scope, "cwd" | "place">): string {
  const expanded = withHome(path, scope);
  const absolute = /^[/\uE0FF]/.test(expanded) ? expanded : `${scope.cwd}/${expanded}`;
  const plain = normalize(absolute);
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain;
}

function withHome(path: string, { cwd, place }: Pick<Scope, "cwd" | "place">): string {
  const [, user, rest = ""] = /^~([^/]*)(\/.*)?$/s.exec(path) ?? [];
  if (user === undefined) return path;
  if (user === "") return place.home + rest;
  if (user === "+") return cwd + rest;
  return user === "root" ? `/root${rest}` : `/home/${user}${rest}`;
}

/** The same with links followed, as far as the path exists. */
export function followLinks(path: string): string {
  if (isUnknown(path) || hasPattern(path)) return path;
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(followLinks(above), basename(path));
  }
}

export function hasPattern(path: string): boolean {
  return /[*?[]/.test(path);
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`);
}

/** Whether a path is, or can become, one of a pattern: `**` at either end stands for any folders. */
export function fits(path: string, pattern: string): boolean {
  const names = partsOf(path);
  const wanted = partsOf(pattern);
  const anywhere = wanted[0] === "**";
  const below = wanted.at(-1) === "**";
  const core = wanted.slice(anywhere ? 1 : 0, below ? -1 : undefined);
  const last = anywhere ? names.length - core.length : 0;
  for (let at = 0; at <= last; at += 1) {
    const isLongEnough = below ? names.length >= at + core.length : names.length === at + core.length;
    if (isLongEnough && core.every((part, index) => fitsPart(names[at + index] ?? "", part))) return true;
  }
  return false;
}

const parts = new Map<string, string[]>();

function partsOf(path: string): string[] {
  const known = parts.get(path);
  if (known !== undefined) return known;
  const split = path
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "");
  if (parts.size > MOST_KEPT) parts.clear();
  parts.set(path, split);
  return split;
}

function fitsPart(name: string, wanted: string): boolean {
  if (name === wanted) return true;
  if (hasPattern(name))
    return (
      !/^[*?]+$/.test(name) && ["rsa", ""].some((by) => asPattern(name).test(wanted.replaceAll("*", by)))
    );
  return hasPattern(wanted) && asPattern(wanted).test(name);
}

const patterns = new Map<string, RegExp>();
const MOST_KEPT = 2000;

function asPattern(glob: string): RegExp {
  const known = patterns.get(glob);
  if (known !== undefined) return known;
  const source = glob
    .replace(/\[!/g, "[^")
    .replace(/[.+^${}()|\\]/g, (found) => (found === "^" ? found : `\\${found}`));
  const pattern = safePattern(
    `^${source.replaceAll("*", ".*").replaceAll("?", ".").replaceAll(UNKNOWN, ".*")}$`,
  );
  if (patterns.size > MOST_KEPT) patterns.clear();
  patterns.set(glob, pattern);
  return pattern;
}

function safePattern(source: string): RegExp {
  const brief = source.replace(/(\.\*)+/g, ".*");
  try {
    return brief.length > 200 ? /^$/ : new RegExp(brief);
  } catch {
    return /^$/;
  }
}
