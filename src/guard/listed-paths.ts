import { list } from "./list.js";
import { fits, hasPattern, type Part, type Pattern, partsOf, patternOf } from "./paths.js";

/** Paths that have something in common: patterns in lower case, as the words of a text; `~` is the home of the user. */
export interface Listed {
  patterns: string;
}

/** The first of the groups with a pattern that a path is or can become. */
export function findListed<T extends Listed>(
  groups: readonly T[],
  path: string,
  home: string,
): T | undefined {
  const seen = seenIn(groups, home);
  const index = seen.get(path) ?? indexIn(groups, path, home);
  if (seen.size > MOST_SEEN) seen.clear();
  if (path.length < LONGEST_KEPT) seen.set(path, index);
  return groups[index];
}

function indexIn(groups: readonly Listed[], path: string, home: string): number {
  const names = partsOf(path);
  const isPlain = names.length > 0 && !hasPattern(path);
  const hints = isPlain ? hintsOf(names, path) : [];
  return groups.findIndex(({ patterns }) => {
    if (isPlain && !hints.some((hint) => patterns.includes(hint))) return false;
    return compiled(patterns, home).some((pattern) => fits(names, pattern));
  });
}

const MOST_SEEN = 2000;
const LONGEST_KEPT = 300;
const answers = new Map<readonly Listed[], { home: string; seen: Map<string, number> }>();

/** What was found before: the same words come again and again in a long command. */
function seenIn(groups: readonly Listed[], home: string): Map<string, number> {
  const kept = answers.get(groups);
  if (kept?.home === home) return kept.seen;
  const seen = new Map<string, number>();
  answers.set(groups, { home, seen });
  return seen;
}

/**
 * The names of a path and its ending, as they would stand in a pattern. Most paths have none of them in common with the
 * patterns: then nothing has to be made of those. By a home alone, only hidden files are listed.
 */
function hintsOf(names: Part[], path: string): string[] {
  const last = names.at(-1)?.text ?? "";
  const ending = last.slice(Math.max(last.lastIndexOf("."), last.lastIndexOf("_"), 0));
  const hints = new Set([`*${ending}`, ...names.map(({ text }) => `/${text}`)]);
  if (!path.includes("/.")) for (const homes of ["/home", "/users"]) hints.delete(homes);
  return [...hints];
}

const known = new Map<string, { home: string; made: Pattern[] }>();

/** Looked up by the patterns alone: to put the home before them would make a new text each time. */
function compiled(patterns: string, home: string): Pattern[] {
  const kept = known.get(patterns);
  if (kept?.home === home) return kept.made;
  const made = list(patterns).map((pattern) => patternOf(pattern, home));
  known.set(patterns, { home, made });
  return made;
}
