import { lstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A git that is at work is done by then, or at least has written. */
const STALE_MS = 1000;

/** Locks that a dead git left in the records of a worktree. Returns whether there were any. */
export async function setAsideLocks(records: string): Promise<boolean> {
  const locks = ["index.lock", "HEAD.lock"].map((name) => join(records, name));
  const before = locks.map(stateOf);
  if (before.every((state) => state === undefined)) return false;
  await sleep(STALE_MS);
  const stale = locks.filter((lock, index) => before[index] !== undefined && stateOf(lock) === before[index]);
  for (const lock of stale) renameSync(lock, `${lock}.set-aside`);
  return true;
}

function stateOf(file: string): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}
