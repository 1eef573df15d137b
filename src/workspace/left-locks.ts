import { type Dirent, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { orElse } from "../errors.js";
import { heldFiles } from "../process/table.js";
import { statOf, textAt } from "./content.js";

export interface LeftLocks {
  removed: string[];
  /** Whether some are left alone, as a living git may still use them. */
  isHeld: boolean;
}

/** The clock of files runs a little behind. */
const CLOCK_SLACK_MS = 20;

/**
 * Removes locks that a dead git left in its records: those that are there since then, and that no living process
 * holds. `records` are the folders of git's records.
 */
export function removeLeftLocks(records: string[], since: number): LeftLocks {
  const from = since - CLOCK_SLACK_MS;
  const locks = records
    .flatMap((folder) => locksIn(folder, from))
    .filter((lock) => (statOf(lock)?.ctimeMs ?? 0) >= from);
  if (locks.length === 0) return { removed: [], isHeld: false };
  const held = heldFiles(locks, [...records, ...records.flatMap(checkoutsOf)]);
  const removed = locks.filter((lock) => !held.includes(lock));
  for (const lock of removed) rmSync(lock, { force: true });
  return { removed, isHeld: held.length > 0 };
}

/** Of the records, these hold locks at any depth; objects are many, and hold none that lasts. */
const FOLDERS = new Set(["refs", "modules"]);

/** Locks, and folders to search, by folder: one that holds something new has a new time. */
const known = new Map<string, { ctimeMs: number; locks: string[]; folders: string[] }>();

/** `index.lock`, `HEAD.lock`, `packed-refs.lock` and the like, and those of refs. */
function locksIn(records: string, from: number, isTop = true): string[] {
  const ctimeMs = statOf(records)?.ctimeMs ?? Number.NaN;
  let folder = known.get(records);
  if (folder?.ctimeMs !== ctimeMs || ctimeMs >= from) {
    const entries = entriesOf(records);
    const those = (which: (entry: Dirent) => boolean): string[] =>
      entries.filter(which).map(({ name }) => join(records, name));
    const isSearched = ({ name }: Dirent): boolean => (isTop ? FOLDERS.has(name) : name !== "objects");
    const locks = those((entry) => entry.isFile() && entry.name.endsWith(".lock"));
    folder = { ctimeMs, locks, folders: those((entry) => entry.isDirectory() && isSearched(entry)) };
    known.set(records, folder);
  }
  return [...folder.locks, ...folder.folders.flatMap((one) => locksIn(one, from, false))];
}

/** The folders whose files the records are about: a git may be running in each of them. */
function checkoutsOf(records: string): string[] {
  const others = entriesOf(join(records, "worktrees")).map(({ name }) => join(records, "worktrees", name));
  const named = [records, ...others].flatMap((folder) => textAt(join(folder, "gitdir")) ?? []);
  return [dirname(records), ...named.map((link) => dirname(link.trim()))];
}

function entriesOf(folder: string): Dirent[] {
  return orElse(() => readdirSync(folder, { withFileTypes: true }), []);
}
