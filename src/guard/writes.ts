import { type Call, hasFlag, valuesOf } from "./call.js";
import { REMOVERS, WRITERS } from "./programs.js";
import { isRemotePath } from "./sending.js";
import { regex, rowsIn } from "./text.js";

/** The files that a command would write, change or remove, as its words name them. */
export function writtenPaths(call: Call): string[] {
  const redirected = call.redirections
    .filter(
      ({ operator, target }) =>
        !/^<&?$/.test(operator) && !(operator.includes("&") && /^(\d+-?|-)$/.test(target)),
    )
    .map(({ target }) => target);
  return [...redirected, ...pathsIn(WRITERS, call)].filter((path) => path !== "" && !isRemotePath(path));
}

/** Trees and files that the command would remove. */
export function removedPaths(call: Call): string[] {
  return pathsIn(REMOVERS, call);
}

function pathsIn(table: string, call: Call): string[] {
  return rowsIn(table, call.program).flatMap((tokens) => {
    const conditions = tokens.filter((token) => /^(\?|\.\.)/.test(token));
    if (!conditions.every((condition) => holds(condition, call))) return [];
    return tokens.flatMap((token) => (conditions.includes(token) ? [] : pathsOf(token, call)));
  });
}

function holds(condition: string, { args, plain }: Call): boolean {
  if (condition.startsWith("..")) return plain.includes(condition.slice(2));
  if (condition.startsWith("?~")) return args.some((arg) => regex(condition.slice(2)).test(arg));
  if (condition.startsWith("?!")) return !hasFlag(args, ...condition.slice(2).split("|"));
  return hasFlag(args, ...condition.slice(1).split("|"));
}

function pathsOf(token: string, { args, plain }: Call): string[] {
  const folders = valuesOf(args, "-t", "--target-directory");
  switch (token) {
    case "all":
      return plain;
    case "last":
      return plain.slice(-1);
    case "first":
      return plain.slice(0, 1);
    case "rest":
      return plain.slice(1);
    case "sources":
      return folders.length > 0 || plain.length === 1 ? plain : plain.slice(0, -1);
    case "edited":
      return hasFlag(args, "-e", "-f", "--expression", "--file") ? plain : plain.slice(1);
    case "into":
      return folders.length > 0
        ? below(folders[0] ?? "", plain)
        : below(plain.at(-1) ?? "", plain.slice(0, -1));
    case "named":
      return args
        .filter((arg) => /^[a-z]+:\/\/./i.test(arg))
        .map((url) => url.replace(/[?#].*$/, "").replace(/^.*\//, ""));
    default:
      return token.endsWith("=")
        ? args.filter((arg) => arg.startsWith(token)).map((arg) => arg.slice(token.length))
        : valuesOf(args, token);
  }
}

/** A file copied into a folder keeps its name. */
function below(target: string, sources: string[]): string[] {
  const names = sources.map((source) => source.slice(source.lastIndexOf("/") + 1));
  return [target, ...names.filter((name) => name !== "" && target !== "").map((name) => `${target}/${name}`)];
}
