import { isTree, type SettingsFile, type Tree } from "./merge.js";

export interface Origin {
  /** Dotted, such as `agent.command`. */
  key: string;
  value: unknown;
  /** The file it comes from; `default` when no file says it. */
  origin: string;
}

/** Every single value of the merged settings. A list is one value: it comes from one file as a whole. */
export function originsOf(settings: object, files: SettingsFile[]): Origin[] {
  return leaves(settings as Tree, []).map(({ path, value }) => ({
    key: path.join("."),
    value,
    origin: files.findLast(({ content }) => says(content, path))?.name ?? "default",
  }));
}

function leaves(tree: Tree, above: string[]): { path: string[]; value: unknown }[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = [...above, key];
    return isTree(value) && Object.keys(value).length > 0 ? leaves(value, path) : [{ path, value }];
  });
}

function says(content: unknown, path: string[]): boolean {
  const found = path.reduce<unknown>(
    (inner, key) => (isTree(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    content,
  );
  return found !== undefined;
}
