import { lstatSync, type Stats } from "node:fs";

/** What stands there; undefined: nothing, also where a file stands on the way. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
