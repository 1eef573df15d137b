import { RalphError } from "../errors.js";
import { isTree, type JsonTree, type SettingsFile } from "./merge.js";

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
