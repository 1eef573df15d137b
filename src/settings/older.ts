import { RalphError } from "../errors.js";
import { isTree, type SettingsFile, type Tree } from "./merge.js";

/** Keys that have another name today. */
const RENAMED: Record<string, string> = { guardrails: "checks", maximumIterations: "maxIterations" };

/** A file as it is read, with the keys of today: a check is an object, and `checks` is the list of them. */
export function inTodaysWords({ name, content }: SettingsFile): SettingsFile {
  if (!isTree(content)) return { name, content };
  const older: Record<string, string> = {};
  const tree: Tree = {};
  for (const [key, value] of Object.entries(content)) {
    const today = nameOf(key, value);
    if (Object.hasOwn(tree, today)) throw twice(name, key === today ? (older[today] ?? key) : key, today);
    if (key !== today) older[today] = key;
    Object.defineProperty(tree, today, { value, enumerable: true, writable: true, configurable: true });
  }
  const { checks } = tree;
  return { name, content: { ...tree, ...(Array.isArray(checks) && { checks: checks.map(asCheck) }) }, older };
}

/** An object of options was called `checks` before that became the list. */
function nameOf(key: string, value: unknown): string {
  return key === "checks" && isTree(value) ? "checkOptions" : todaysName(key);
}

export function todaysName(key: string): string {
  return Object.hasOwn(RENAMED, key) ? (RENAMED[key] as string) : key;
}

function asCheck(check: unknown): unknown {
  return typeof check === "string" ? { command: check } : check;
}

function twice(file: string, key: string, today: string): RalphError {
  return new RalphError(`${file}: "${key}" is an older name of "${today}", and both are given`, {
    code: "settings_invalid",
    hint: `keep "${today}"`,
  });
}
