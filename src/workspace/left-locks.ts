import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { heldFiles } from "../process/holders.js";

export interface LeftLocks {
  removed: string[];
  /** Whether some are left alone, as somebody may still use them. */
  isHeld: boolean;
}

/** The clock of files runs a little behind. */
const CLOCK_SLACK_MS = 20;

/**
 * Removes locks that a dead git left in its records: those that are there since then, and that no living process
 * holds. `records` are the folders of git's records.
 */
export function removeLeftLocks(records: string[], since: number): LeftLocks {
  const locks = records.flatMap(locksIn).filter((lock) => wasMadeSince(lock, since - CLOCK_SLACK_MS));
  if (locks.length === 0) return { removed: [], isHeld: false };
  const held = heldFiles(locks, [...records, ...records.flatMap(checkoutsOf)]);
  const removed = locks.filter((lock) => !held.includes(lock));
  for (const lock of removed) rmSync(lock, { force: true });
  return { removed, isHeld: held.length > 0 };
}

/** Of the records, these hold locks at any depth; objects are many, and hold none that lasts. */
const FOLDERS = new Set(["refs", "modules"]);
const OBJECTS = "objects";

/** `index.lock`, `HEAD.lock`, `packed-refs.lock` and the like, and those of refs. */
function locksIn(records: string): string[] {
  const found: string[] = [];
  const folders = [records];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isFile() && entry.name.endsWith(".lock")) found.push(path);
      if (entry.isDirectory() && entry.name !== OBJECTS && (folder !== records || FOLDERS.has(entry.name)))
        folders.push(path);
    }
  }
  return found;
}

/** The folders whose files the records are about: in each of them a git may be at work. */
function checkoutsOf(records: string): string[] {
  const others = entriesOf(join(records, "worktrees")).map(({ name }) => join(records, "worktrees", name));
  return [dirname(records), ...[records, ...others].flatMap(checkoutOf)];
}

function checkoutOf(records: string): string[] {
  try {
    return [dirname(readFileSync(join(records, "gitdir"), "utf8").trim())];
  } catch {
    return [];
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function wasMadeSince(lock: string, since: number): boolean {
  const stat = lstatSync(lock, { throwIfNoEntry: false });
  return stat !== undefined && stat.ctimeMs >= since;
}
