import type { Inner } from "./inner.js";
import { argumentsAt, literals } from "./literals.js";

const REMOVE =
  /(?<!["'])\b(?:rmtree|Deno\.remove|delete-directory|delete-file|os\.remove|removedirs|rmSync|rmdirSync|unlinkSync|rm_rf|rm_r|rimraf|removeSync|remove_dir_all|remove_tree|rmdir|unlink|rm)\s*\(?\s*(?:glob\s*)?[('"[]/g;

export function removalsIn(text: string): Inner[] {
  const isOfVariable =
    /\b(?:rmtree|rmSync|rmdirSync|rm_rf|rimraf|removeSync|remove_dir_all|rm)\s*\(\s*\w+\s*[,)]/.test(text);
  const paths = (isOfVariable ? loopedIn(text) : []).filter((path) => /^[~/]/.test(path));
  return [...paths.map((path) => ({ words: ["rm", "-r", path] })), ...namedRemovals(text)];
}

/** `for p in ["a", "b"]`, `["a", "b"].forEach(…)`. */
function loopedIn(text: string): string[] {
  const loops = text.matchAll(/\bin\s*[[(][^\])]{0,300}[\])]|\[[^\]]{0,300}\]\.(?:forEach|map|each)\b/g);
  return [...loops].flatMap(([loop]) => literals(loop));
}

function namedRemovals(text: string): Inner[] {
  return [...text.matchAll(REMOVE)].slice(0, 20).flatMap((match) => {
    const inside = argumentsAt(text, match.index);
    const home = /homedir|expanduser|HOME|Path\.home|Dir\.home/.test(inside) ? ["~"] : [];
    const paths = [
      ...literals(inside).filter((path) => path !== "HOME" && path !== "~"),
      ...(literals(inside).some((path) => /^[~]?\//.test(path) || path === "~") ? [] : home),
      ...literals(inside).filter((path) => path === "~"),
    ];
    return paths.map((path) => ({ words: ["rm", "-r", path] }));
  });
}

const WRITE =
  /\b(?:open|writeFileSync|writeFile|appendFileSync|appendFile|write_text|file_put_contents|createWriteStream|File\.write|fopen|copyFileSync|cpSync|renameSync|copyfile|copy2?|copytree|move|symlink\w*|chmod|rename)\s*\(/g;

/** `Path("x").unlink()`, also of all that is below. */
export function unlinkedIn(text: string): Inner[] {
  if (!/\.(unlink|rmdir)\(/.test(text)) return [];
  return [...text.matchAll(/Path\(\s*(['"])(.*?)\1/g)].map((match) => ({
    words: ["rm", "-r", match[2] ?? ""],
  }));
}

export function writesIn(text: string): Inner[] {
  const called = [...text.matchAll(WRITE)].slice(0, 20).flatMap((match) => {
    const inside = argumentsAt(text, match.index);
    const found = literals(inside);
    const isReading =
      /^open|^fopen/.test(match[0]) && !found.slice(1).some((mode) => /^[rwab+x><]*[wax+>]/.test(mode));
    const isCopy = /^(copy|cp)/i.test(match[0]);
    const isNamed = /\bdst\s*=/.test(inside);
    return isReading ? [] : found.slice(isCopy && !isNamed ? 1 : 0).filter((path) => /[/.~]/.test(path));
  });
  const paths = [
    ...text.matchAll(/Path\(\s*(['"])(.*?)\1\s*\)(?:\.expanduser\(\))?\.(?:write|touch|unlink|open)/g),
  ].map((match) => match[2] ?? "");
  const named = [
    ...text.matchAll(
      /(["'])([~/][^"'\n]*)\1\s*\)*\.(?:write_|touch|unlink|rename|symlink_to|open\(["'][wax])/g,
    ),
  ].map((match) => match[2] ?? "");
  const printed = [...text.matchAll(/print[^;}\n]*>>?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  return [...called, ...paths, ...named, ...printed].map((path) => ({ words: ["tee", path] }));
}
