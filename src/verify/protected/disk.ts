import {
  chmodSync,
  copyFileSync,
  cpSync,
  constants as fs,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomic, writeFresh } from "../../records/files.js";
import { digestOf, statOf, textAt } from "../../workspace/content.js";
import { type Entry, isWithin } from "./find.js";

/** A file as it was when the snapshot was taken. */
export interface FileCopy extends Entry {
  mode: number;
  /** Where a link leads. */
  target?: string;
  /** Name of the copy of a file. */
  copy?: string;
}

const MODE_BITS = 0o7777;

/** undefined: a pipe or a socket has nothing that could be put back. */
export function copyOf(entry: Entry, folder: string, copy: string): FileCopy | undefined {
  const stat = statOf(entry.real);
  const mode = (stat?.mode ?? 0) & MODE_BITS;
  if (stat?.isSymbolicLink()) return { ...entry, mode, target: readlinkSync(entry.real) };
  if (!stat?.isFile()) return undefined;
  copyFileSync(entry.real, join(folder, copy), fs.COPYFILE_FICLONE);
  chmodSync(join(folder, copy), 0o600);
  return { ...entry, mode, copy };
}

export type Difference = "changed" | "deleted" | "mode";

/** How a file differs from its copy; undefined: not at all. */
export function differenceOf({ real, mode, target, copy }: FileCopy, folder: string): Difference | undefined {
  const now = statOf(real);
  if (now === undefined) return "deleted";
  if (target !== undefined)
    return now.isSymbolicLink() && readlinkSync(real) === target ? undefined : "changed";
  const path = join(folder, copy ?? "");
  const then = statOf(path);
  if (!now.isFile() || then?.size !== now.size || digestOf(real, now) !== digestOf(path, then))
    return "changed";
  return (now.mode & MODE_BITS) === mode ? undefined : "mode";
}

/** Puts a file in the place of whatever is there. */
export function putBack({ real, base, mode, target, copy = "" }: FileCopy, folder: string): void {
  makeWay(dirname(real), base);
  remove(real);
  if (target === undefined) {
    copyFileSync(join(folder, copy), real);
    chmodSync(real, mode);
  } else symlinkSync(target, real);
}

/** The same for a file of the workspace whose text is known. */
export function putTextBack(workspace: string, name: string, text: string): void {
  const path = join(workspace, name);
  makeWay(dirname(path), workspace);
  remove(path);
  writeFresh(path, text);
}

/** A file whose text is known; undefined: there is none. `kept`: where another version is kept. */
export interface KnownText {
  file: string;
  text: string | undefined;
  kept?: string;
}

/** Puts back the files that hold another text. Returns them; `kept` is left out where nothing had to be kept. */
export function putTextsBack(workspace: string, known: KnownText[]): KnownText[] {
  return known.flatMap(({ file, text, kept }) => {
    const found = textAt(join(workspace, file));
    if (found === text) return [];
    if (found !== undefined && kept !== undefined) writeAtomic(kept, found);
    if (text === undefined) remove(join(workspace, file));
    else putTextBack(workspace, file, text);
    return [{ file, text, ...(found !== undefined && kept !== undefined && { kept }) }];
  });
}

/** Removes a file that was not there before, with the folders that were made for it. */
export function takeAway({ real, base }: Entry, folders: Set<string>): void {
  remove(real);
  for (let above = dirname(real); isWithin(above, base) && !folders.has(above); above = dirname(above)) {
    if (statOf(above) === undefined || readdirSync(above).length > 0) return;
    rmdirSync(above);
  }
}

/** Removes whatever is there. For a file that stays, `rmSync` would report another error than the one that counts. */
export function remove(path: string): void {
  const stat = statOf(path);
  if (stat?.isDirectory()) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  else if (stat !== undefined) unlinkSync(path);
}

const OWN = 0o700;

/** Makes every part of the way a folder: a link in between would lead elsewhere. */
function makeWay(folder: string, base: string): void {
  if (!isWithin(folder, base)) return;
  makeWay(dirname(folder), base);
  const stat = statOf(folder);
  if (!stat?.isDirectory()) {
    rmSync(folder, { force: true });
    mkdirSync(folder);
  } else if ((stat.mode & OWN) !== OWN) chmodSync(folder, stat.mode | OWN);
}

/** Moves what an agent made into the records, so that it is not lost. Returns where it is now. */
export function keepAside({ real, shown, base }: Entry, folder: string): string | undefined {
  const stat = statOf(real);
  if (!stat?.isFile() && !stat?.isDirectory()) return undefined;
  // An agent may have closed the folder that it is in.
  makeWay(dirname(real), base);
  const path = join(folder, "protected", shown);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    renameSync(real, path);
  } catch {
    // The records may be on another disk.
    cpSync(real, path, { recursive: true, verbatimSymlinks: true });
    remove(real);
  }
  chmodSync(path, 0o600);
  return path;
}
