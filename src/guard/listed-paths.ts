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
  const names = partsOf(path);
  const isPlain = names.length > 0 && !hasPattern(path);
  return groups.find(({ patterns }) => {
    if (isPlain && !isNear(names, patterns)) return false;
    return compiled(patterns, home).some((pattern) => fits(names, pattern));
  });
}

/**
 * Whether a path has a name or an ending in common with the patterns. Most have none: then nothing has to be made of
 * the patterns.
 */
function isNear(names: Part[], patterns: string): boolean {
  const last = names.at(-1)?.text ?? "";
  const ending = last.slice(Math.max(last.lastIndexOf("."), last.lastIndexOf("_"), 0));
  return patterns.includes(`*${ending}`) || names.some(({ text }) => patterns.includes(`/${text}`));
}

const known = new Map<string, Pattern[]>();

function compiled(patterns: string, home: string): Pattern[] {
  const key = `${home}\n${patterns}`;
  const made = known.get(key) ?? list(patterns).map((pattern) => patternOf(pattern, home));
  known.set(key, made);
  return made;
}
