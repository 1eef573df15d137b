import { orElse } from "../errors.js";
import type { Where } from "./call.js";
import { followLinks, resolvePath } from "./paths.js";
import { hasPattern, list } from "./text.js";

/** A title, a colon, and patterns in lower case. `~` is the user's home; `**` at an end is any folders. */
type PathGroup = string;

/** The title of the first group with a pattern that matches a path, by its name or through links. */
export function findListed(groups: readonly PathGroup[], path: string, where: Where): string | undefined {
  const named = resolvePath(path, where);
  const found = titleOf(groups, named, where.site.home);
  const real = found !== undefined || /^\/dev\/(fd|std)/.test(named) ? named : followLinks(named);
  return real === named ? found : titleOf(groups, real, where.site.home);
}

export function titleOf(groups: readonly PathGroup[], path: string, home: string): string | undefined {
  if (path.length > LONGEST) return undefined;
  const name = path.toLowerCase();
  return groups
    .map((group) => parsed(group, home.toLowerCase()))
    .find(({ patterns }) =>
      patterns.some((pattern) => (hasPattern(name) ? canBe(name, pattern) : isNamed(name, pattern))),
    )?.title;
}

const LONGEST = 4096;
const made = new Map<PathGroup, { home: string; title: string; patterns: string[] }>();

function parsed(group: PathGroup, home: string) {
  const known = made.get(group);
  if (known?.home === home) return known;
  const at = group.indexOf(":");
  const patterns = list(group.slice(at + 1)).map((pattern) => pattern.replace(/^~/, home));
  const fresh = { home, title: group.slice(0, at).trim(), patterns };
  made.set(group, fresh);
  return fresh;
}

const TOKENS: Record<string, string> = { "*": "[^/]*", "?": "." };

/** Compares most patterns as text: building all expressions would take longer than judging a command. */
function isNamed(path: string, pattern: string): boolean {
  const [isAnywhere, isWithAllBelow] = [pattern.startsWith("**/"), pattern.endsWith("/**")];
  const core = pattern.slice(isAnywhere ? 3 : 0, isWithAllBelow ? -3 : undefined);
  if (core.includes("*") || core.includes("?")) {
    if (!core.split(/[*?]/).every((part) => path.includes(part))) return false;
    const source = core.replace(/[*?.+^${}()|\\]/g, (token) => TOKENS[token] ?? `\\${token}`);
    return new RegExp(`${isAnywhere ? "(?:^|/)" : "^"}${source}${isWithAllBelow ? "(?:/|$)" : "$"}`).test(
      path,
    );
  }
  if (isAnywhere && isWithAllBelow) return `/${path}/`.includes(`/${core}/`);
  if (isAnywhere) return `/${path}`.endsWith(`/${core}`);
  return isWithAllBelow ? `${path}/`.startsWith(`${core}/`) : path === core;
}

/** Whether a shell pattern can match a listed path: name by name; a star does not match a leading dot. */
function canBe(path: string, pattern: string): boolean {
  const names = list(path.replaceAll("/", " "));
  const core = list(pattern.replace(/^\*\*|\*\*$/g, "").replaceAll("/", " "));
  const most = names.length - core.length;
  return names.some(
    (_, at) =>
      (at === 0 || pattern.startsWith("**")) &&
      (at === most || (at < most && pattern.endsWith("**"))) &&
      core.every((part, index) => canBeName(names[at + index] ?? "", part)),
  );
}

function canBeName(name: string, wanted: string): boolean {
  if (name === wanted) return true;
  if (/^[*?]+$/.test(name) || (wanted.startsWith(".") && /^[*?]/.test(name))) return false;
  if (!hasPattern(name)) return globbed(wanted).test(name);
  if (wanted.startsWith("*")) return name.endsWith(wanted.slice(1));
  return ["rsa", ""].some((by) => globbed(name).test(wanted.replaceAll("*", by)));
}

/** A glob as an expression; one with many stars can match anything, and would take long to compare. */
function globbed(glob: string): RegExp {
  if (glob.length > 300 || glob.split("*").length > 6) return /^/;
  const source = glob
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".")
    .replace(/\[!/g, "[^");
  return orElse(() => new RegExp(`^${source}$`), /^/);
}
