import { RalphError } from "../errors.js";

export interface SettingsFile {
  /** As the user knows it, relative to the workspace. */
  name: string;
  /** With the keys of today. */
  content: unknown;
  /** Keys that the file writes in an older way, by their names of today. */
  older?: Record<string, string>;
}

export type JsonTree = { [key: string]: unknown };

export function isTree(value: unknown): value is JsonTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Objects are merged key by key; scalars and arrays of the overlay replace those of the base. */
export function deepMerge(base: unknown, overlay: unknown): unknown {
  if (!isTree(base) || !isTree(overlay)) return overlay;
  const both = Object.entries(overlay).map(([key, value]) => [
    key,
    Object.hasOwn(base, key) ? deepMerge(base[key], value) : value,
  ]);
  return { ...base, ...Object.fromEntries(both) };
}

/** In the section of `ralph loop`, null is a value of its own. */
const WITH_NULLS = ["loop", "ralph_loop"];

/** null takes away what the files below say. */
export function withoutNulls(tree: JsonTree): JsonTree {
  const kept = Object.entries(tree).filter(([, value]) => value !== null);
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      isTree(value) && !WITH_NULLS.includes(key) ? withoutNulls(value) : value,
    ]),
  );
}

export function nullsIn(tree: JsonTree, above: string[] = []): string[][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    value === null ? [[...above, key]] : isTree(value) ? nullsIn(value, [...above, key]) : [],
  );
}

/** undefined: it says nothing there. */
export function valueAt(tree: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? Reflect.get(inner, key)
        : undefined,
    tree,
  );
}

const RENAMED: Record<string, string> = { guardrails: "checks", maximumIterations: "maxIterations" };

/** A file as it is read, with the keys of today: a check is an object, and `checks` is the list of them. */
export function inTodaysWords({ name, content }: SettingsFile): SettingsFile {
  if (!isTree(content)) return { name, content };
  const older: Record<string, string> = {};
  const tree: JsonTree = {};
  for (const [key, value] of Object.entries(content)) {
    // An object of options was called `checks` before that became the list.
    const today = key === "checks" && isTree(value) ? "checkOptions" : todaysName(key);
    if (Object.hasOwn(tree, today)) {
      const both = key === today ? (older[today] ?? key) : key;
      const what = `${name}: "${both}" is an older name of "${today}", and both are given`;
      throw new RalphError(what, { code: "settings_invalid", hint: `keep "${today}"` });
    }
    if (key !== today) older[today] = key;
    Object.defineProperty(tree, today, { value, enumerable: true, writable: true, configurable: true });
  }
  if (Array.isArray(tree["checks"]))
    tree["checks"] = tree["checks"].map((check) => (typeof check === "string" ? { command: check } : check));
  return { name, content: tree, older };
}

export function todaysName(key: string): string {
  return Object.hasOwn(RENAMED, key) ? (RENAMED[key] as string) : key;
}
