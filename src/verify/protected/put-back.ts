import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { entryAt } from "./entry.js";
import { isWithin, type Seen } from "./look.js";
import type { Kept } from "./snapshot.js";

/** Puts a file in the place of whatever is there. */
export function putBack(kept: Kept, folder: string): void {
  makeWay(dirname(kept.real), kept.base);
  remove(kept.real);
  if (kept.target !== undefined) {
    symlinkSync(kept.target, kept.real);
    return;
  }
  copyFileSync(join(folder, kept.copy ?? ""), kept.real);
  chmodSync(kept.real, kept.mode);
}

/** Takes away what was not there, with folders that were made for it. */
export function takeAway({ real, base }: Seen, folders: Set<string>): void {
  remove(real);
  for (let above = dirname(real); above !== base && !folders.has(above); above = dirname(above)) {
    if (!above.startsWith(base) || !isEmpty(above)) return;
    rmdirSync(above);
  }
}

/** Whatever is there. Of a file that stays, `rmSync` would tell another error than the one that counts. */
export function remove(path: string): void {
  const stat = entryAt(path);
  if (stat === undefined) return;
  if (stat.isDirectory()) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  else unlinkSync(path);
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}

/** Folders all the way: a link in between would lead elsewhere. */
function makeWay(folder: string, base: string): void {
  if (folder === base || !isWithin(folder, base)) return;
  makeWay(dirname(folder), base);
  const stat = entryAt(folder);
  if (stat?.isDirectory()) {
    if ((stat.mode & OWN) !== OWN) chmodSync(folder, stat.mode | OWN);
    return;
  }
  rmSync(folder, { force: true });
  mkdirSync(folder);
}

const OWN = 0o700;

/** What an agent made is not lost: it is moved into the records. Returns where. */
export function keepAside({ real, shown, base }: Seen, folder: string): string | undefined {
  const stat = entryAt(real);
  if (!stat?.isFile() && !stat?.isDirectory()) return undefined;
  // An agent may have closed the folder that it is in.
  makeWay(dirname(real), base);
  const path = join(folder, "protected", shown);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  move(real, path);
  chmodSync(path, 0o600);
  return path;
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // The records may be on another disk.
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    remove(from);
  }
}
