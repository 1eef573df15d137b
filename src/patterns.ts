import picomatch from "picomatch";

/** Patterns of files from the project on: `tests/**`, `*.md`, `src/[a-c]?/{one,two}.ts`. */
export interface Patterns {
  /** Whether it is a file of theirs: one that is named, or one below a folder that is. */
  match(path: string): boolean;
  /** Whether one of them is exactly this name. */
  name(path: string): boolean;
  /** Where to look for all that may match; `""` is the project itself. */
  roots: string[];
}

export function compilePatterns(patterns: readonly string[]): Patterns {
  const all = [...new Set(patterns.map(tidy))];
  const scanned = all.map((pattern) => {
    const { base, glob } = picomatch.scan(pattern);
    return { base: base.replace(/\\(.)/g, "$1"), glob };
  });
  const names = new Set(scanned.filter(({ glob }) => glob === "").map(({ base }) => base));
  const bases = [...new Set(scanned.map(({ base }) => base))];
  return {
    match: picomatch(
      all.flatMap((pattern) => [pattern, `${pattern}/**`]),
      // A name may hold a line break.
      { dot: true, noextglob: true, nonegate: true, flags: "s" },
    ),
    name: (path) => names.has(path),
    // A folder inside another one is found with it.
    roots: bases.filter((base) => base === "" || !bases.some((other) => isBelow(base, other))),
  };
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && (folder === "" || path.startsWith(`${folder}/`));
}

/** `./tests/` and `tests/**` are `tests`, with all that is below it. Brackets of names mean themselves. */
function tidy(pattern: string): string {
  const short = pattern
    .replace(/^(\.\/+)+/, "")
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "");
  if (short === ".") return "**";
  return short
    .replace(/(?<=[^/])(\/\*\*)+$/, "")
    .replace(/(?<!\\)[()|+@^$]/g, "\\$&")
    .replace(/(?<!\\)\[!/g, "[^");
}
