import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, normalize, resolve } from "node:path";
import { isUnknown, UNKNOWN } from "./call.js";
import { fitsGlob } from "./glob.js";
import type { Scope } from "./shell/scope.js";

/** Where a path leads, by its text alone. Patterns and what is unknown stay in it. */
export function resolvePath(path: string, scope: Pick<Scope, "cwd" | "place">): string {
  const expanded = withHome(path, scope);
  const absolute =
    expanded.startsWith("/") || expanded.startsWith(UNKNOWN) ? expanded : `${scope.cwd}/${expanded}`;
  if (absolute.startsWith("/")) return resolve(absolute);
  const plain = normalize(absolute);
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain;
}

function withHome(path: string, { cwd, place }: Pick<Scope, "cwd" | "place">): string {
  if (!path.startsWith("~")) return path;
  const end = path.includes("/") ? path.indexOf("/") : path.length;
  const [user, rest] = [path.slice(1, end), path.slice(end)];
  if (user === "") return place.home + rest;
  if (user === "+") return cwd + rest;
  return user === "root" ? `/root${rest}` : `/home/${user}${rest}`;
}

/** The same with links followed, as far as the path exists. */
export function followLinks(path: string): string {
  if (isUnknown(path) || hasPattern(path) || path.length > LONGEST) return path;
  const before = known.get(path);
  if (before !== undefined) return before;
  // Until it is known where it leads: a link may lead to itself.
  known.set(path, path);
  const real = realPath(path);
  known.set(path, real);
  return real;
}

const LONGEST = 4096;
const known = new Map<string, string>();
/** Nothing can be in them, so nobody has to look. */
const missing = new Set<string>();

/** Links may have changed since the last command. */
export function forgetLinks(): void {
  known.clear();
  missing.clear();
}

/** A link to what does not exist yet leads there all the same: writing through it makes the file. */
function realPath(path: string): string {
  const above = dirname(path);
  if (above === path) return path;
  const folder = followLinks(above);
  const isLost = missing.has(above);
  if (!isLost && existsSync(path)) return whole(path);
  const here = folder === "/" ? `/${basename(path)}` : `${folder}/${basename(path)}`;
  const target = isLost ? undefined : targetOf(here);
  if (target !== undefined) return followLinks(resolve(folder, target));
  missing.add(path);
  return here;
}

function whole(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Asked first whether anything is there: an error takes longer. */
function targetOf(link: string): string | undefined {
  try {
    return lstatSync(link, { throwIfNoEntry: false }) && readlinkSync(link);
  } catch {
    return undefined;
  }
}

export function hasPattern(path: string): boolean {
  return path.includes("*") || path.includes("?") || path.includes("[");
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`);
}

/** A name in a path, with what many comparisons want to know of it. */
export interface Part {
  text: string;
  isPattern: boolean;
}

/** A path to look for: `**` at either end stands for any folders, `~` for the home. */
export interface Pattern {
  core: Part[];
  anywhere: boolean;
  below: boolean;
}

export function patternOf(text: string, home: string): Pattern {
  const wanted = partsOf(text.startsWith("~") ? home + text.slice(1) : text);
  const anywhere = wanted[0]?.text === "**";
  const below = wanted.at(-1)?.text === "**";
  return { core: wanted.slice(anywhere ? 1 : 0, below ? -1 : undefined), anywhere, below };
}

export function partsOf(path: string): Part[] {
  const parts: Part[] = [];
  for (const text of path.toLowerCase().split("/"))
    if (text !== "") parts.push({ text, isPattern: hasPattern(text) });
  return parts;
}

/** Whether a path, in its parts, is or can become one of a pattern. */
export function fits(names: Part[], { core, anywhere, below }: Pattern): boolean {
  const last = anywhere ? names.length - core.length : 0;
  for (let at = below || !anywhere ? 0 : last; at <= last; at += 1) {
    const isLongEnough = below ? names.length >= at + core.length : names.length === at + core.length;
    if (isLongEnough && fitsAt(names, at, core)) return true;
  }
  return false;
}

/** The last name first: it is the one that differs most. */
function fitsAt(names: Part[], at: number, core: Part[]): boolean {
  for (let index = core.length - 1; index >= 0; index -= 1) {
    const [name, wanted] = [names[at + index], core[index]];
    if (name === undefined || wanted === undefined || !fitsPart(name, wanted)) return false;
  }
  return true;
}

function fitsPart(name: Part, wanted: Part): boolean {
  if (name.text === wanted.text) return true;
  if (name.isPattern) return overlap(name.text, wanted.text);
  return wanted.isPattern && fitsGlob(name.text, wanted.text);
}

/** Whether two patterns can mean the same file. A star does not stand for the dot of a hidden one. */
function overlap(name: string, wanted: string): boolean {
  if (/^[*?]+$/.test(name) || (wanted.startsWith(".") && /^[*?]/.test(name))) return false;
  if (wanted.startsWith("*")) return name.endsWith(wanted.slice(1));
  return ["rsa", ""].some((by) => fitsGlob(wanted.replaceAll("*", by), name));
}
