import { fits, hasPattern, type Pattern, partsOf, patternOf } from "./paths.js";

/** The first of a list whose pattern a path is or can become. */
export function findListed<T extends { pattern: string }>(
  list: readonly T[],
  path: string,
  home: string,
): T | undefined {
  const lower = path.toLowerCase();
  const isPattern = hasPattern(path);
  const near = list.filter(({ pattern }) => isPattern || lower.includes(signOf(pattern)));
  if (near.length === 0) return undefined;
  const names = partsOf(path);
  return near.find(({ pattern }) => fits(names, compiled(pattern, home)));
}

const signs = new Map<string, string>();

/** A text that stands in every path that fits: most paths have none of them, and need no closer look. */
function signOf(pattern: string): string {
  const known = signs.get(pattern);
  if (known !== undefined) return known;
  let longest = "";
  for (const piece of pattern.toLowerCase().split("*")) if (piece.length > longest.length) longest = piece;
  const sign = longest.replace("~", "").replace(/\/$/, "");
  signs.set(pattern, sign);
  return sign;
}

const patterns = new Map<string, Pattern>();

function compiled(pattern: string, home: string): Pattern {
  const key = `${home}\n${pattern}`;
  const made = patterns.get(key) ?? patternOf(pattern, home);
  patterns.set(key, made);
  return made;
}
