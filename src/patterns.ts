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
  const expressions = all.map((pattern) => new RegExp(`^${expression(pattern)}(?:/.*)?$`, "s"));
  const names = new Set(all.filter((pattern) => !MAGIC.test(pattern)).map(unescaped));
  return {
    match: (path) => expressions.some((one) => one.test(path)),
    name: (path) => names.has(path),
    roots: withoutInner([...new Set(all.map(rootOf))]),
  };
}

/** Why a pattern cannot be taken; undefined: it can. */
export function patternMistake(pattern: string): string | undefined {
  const inside = "expected a pattern of files in the project, such as tests/**";
  if (pattern.trim() === "" || pattern.startsWith("/") || pattern.startsWith("~")) return inside;
  if (pattern.split("/").includes("..")) return inside;
  if (pattern.startsWith("!")) return "expected a pattern of what is meant: exceptions with ! are not known";
  return isReadable(pattern) ? undefined : "expected a pattern, and its brackets cannot be read";
}

/** `[z-a]` */
function isReadable(pattern: string): boolean {
  try {
    compilePatterns([pattern]);
    return true;
  } catch {
    return false;
  }
}

/** `./tests/` and `tests/**` are `tests`, with all that is below it. */
function tidy(pattern: string): string {
  const short = pattern
    .replace(/^(\.\/+)+/, "")
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "");
  return short === "." ? "**" : short.replace(/(?<=[^/])(\/\*\*)+$/, "");
}

const MAGIC = /(?<!\\)[*?[{]/;

/** The folders before the first part with a wildcard. */
function rootOf(pattern: string): string {
  const parts = pattern.split("/");
  const first = parts.findIndex((part) => MAGIC.test(part));
  return unescaped(parts.slice(0, first === -1 ? undefined : first).join("/"));
}

function unescaped(pattern: string): string {
  return pattern.replace(/\\(.)/g, "$1");
}

/** What is below another one is looked at with it. */
function withoutInner(roots: string[]): string[] {
  if (roots.includes("")) return [""];
  return roots.filter((root) => !roots.some((other) => root.startsWith(`${other}/`)));
}

const WILDCARDS: Record<string, string> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };
const TOKEN = /\\(.)|\*\*\/|\*\*|\*|\?|\[(!?)((?:\\.|[^\]\\])+)\]|\{([^{}]*)\}|[^\\*?[{]+|./gs;

function expression(pattern: string): string {
  return pattern.replace(TOKEN, (token, escaped?: string, not?: string, set?: string, either?: string) => {
    if (set !== undefined) return `[${not ? "^/" : ""}${set.replace(/[[\]^\\]/g, "\\$&")}]`;
    if (either !== undefined) return `(?:${either.split(",").map(expression).join("|")})`;
    return WILDCARDS[token] ?? quoted(escaped ?? token);
  });
}

function quoted(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
