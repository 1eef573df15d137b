import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomic, writeFresh } from "../../records/files.js";
import { stateOf, statOf, textAt } from "../../workspace/content.js";
import { isWithin, type PathEntry } from "./find.js";

/** A file or a link as it was when the snapshot was taken. */
export interface FileCopy extends PathEntry {
  copy: string;
  mode: number;
  state: string;
}

/** undefined: a pipe or a socket has nothing that could be put back. */
export function copyOf(entry: PathEntry, folder: string, copy: string): FileCopy | undefined {
  const stat = statOf(entry.real);
  if (!stat?.isFile() && !stat?.isSymbolicLink()) return undefined;
  const path = join(folder, copy);
  cpSync(entry.real, path, { verbatimSymlinks: true });
  if (stat.isFile()) chmodSync(path, 0o600);
  return { ...entry, copy, mode: stat.mode & 0o7777, state: stateOf(entry.real, Number.POSITIVE_INFINITY) };
}

/** How a file differs from what it was; undefined: not at all. */
export function differenceOf({ real, state }: FileCopy): "changed" | "deleted" | undefined {
  const now = stateOf(real, Number.POSITIVE_INFINITY);
  if (now === state) return undefined;
  return now === "gone" ? "deleted" : "changed";
}

/** Puts a file in the place of whatever is there. */
export function putBack({ real, base, copy, mode }: FileCopy, folder: string): void {
  makeWay(dirname(real), base);
  remove(real);
  cpSync(join(folder, copy), real, { verbatimSymlinks: true });
  if (statOf(real)?.isFile()) chmodSync(real, mode);
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

/** Removes whatever is there. For a file that stays, `rmSync` would report another error than the one that counts. */
export function remove(path: string): void {
  const stat = statOf(path);
  if (stat?.isDirectory()) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  else if (stat !== undefined) unlinkSync(path);
}

/** Removes the folders that were made for a file. */
export function removeFolders({ real, base }: PathEntry, known: Set<string>): void {
  for (let above = dirname(real); isWithin(above, base) && !known.has(above); above = dirname(above)) {
    if (statOf(above) === undefined || readdirSync(above).length > 0) return;
    rmdirSync(above);
  }
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

/** Moves what an agent made into the records, so that it is not lost. Returns where it is now; a link is not kept. */
export function keepAside({ real, shown, base }: PathEntry, folder: string): string | undefined {
  const stat = statOf(real);
  if (!stat?.isFile() && !stat?.isDirectory()) {
    remove(real);
    return undefined;
  }
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
