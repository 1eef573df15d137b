import { lstatSync } from "node:fs";

/** A file that was changed a moment ago can be changed again without looking different. */
const SETTLED_MS = 1000;

/** Remembers what files looked like from outside when their content was last compared. */
export function createUnchanged() {
  const looks = new Map<string, string>();
  return {
    isUnchanged: (path: string): boolean => looks.get(path) !== undefined && looks.get(path) === lookOf(path),
    remember(path: string): void {
      const look = lookOf(path);
      if (look === undefined) looks.delete(path);
      else looks.set(path, look);
    },
  };
}

/** undefined: nothing that could be relied on. No program sets the time of the last change at will. */
function lookOf(path: string): string | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || Date.now() - Number(stat.ctimeMs) < SETTLED_MS) return undefined;
  return `${stat.ino} ${stat.size} ${stat.mode} ${stat.ctimeNs}`;
}
