import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { systemErrorCode } from "../errors.js";

/**
 * Makes a folder, and those above it. Node's own way of doing that goes round forever where the system makes
 * none, as below `/proc`.
 */
export function makeFolders(path: string, mode?: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolders(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Somebody else was quicker.
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
}

/** For its owner alone, also where it is there already, made by an earlier release or by somebody else. */
export function makePrivateFolder(path: string): void {
  makeFolders(path, PRIVATE_FOLDER);
  const { mode, uid } = statSync(path);
  if ((mode & 0o777) !== PRIVATE_FOLDER && uid === process.getuid?.()) chmodSync(path, PRIVATE_FOLDER);
}

const PRIVATE_FOLDER = 0o700;

/** Takes from everybody else whatever they may do with a folder and all in it. Links are left alone. */
export function closeToOthers(path: string): void {
  for (const entry of [".", ...readdirSync(path, { recursive: true, encoding: "utf8" })]) {
    const stat = lstatSync(join(path, entry), { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink() || (stat.mode & 0o077) === 0) continue;
    if (stat.uid !== process.getuid?.()) continue;
    chmodSync(join(path, entry), stat.mode & PRIVATE_FOLDER);
  }
}

/** What stands there, a link as such. undefined: nothing, or a file stands where a folder would have to. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Where a path leads when all links are followed, also where some of it does not exist yet. */
export function realPlace(path: string): string {
  const entry = entryAt(path);
  if (entry === undefined) return join(realPlace(dirname(path)), basename(path));
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT" || !entry.isSymbolicLink()) throw error;
    return realPlace(resolve(dirname(path), readlinkSync(path)));
  }
}

/** Whoever reads the file sees the old content or the new one, never a part. */
export function writeAtomic(path: string, content: string, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = openFresh(temporary, mode);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Opens a file in a folder that agents can write to. What stands there is removed first and links are not
 * followed, so that a planted link cannot make ralph overwrite another file.
 */
export function openFresh(path: string, mode = 0o644): number {
  try {
    return openSync(path, "wx", mode);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
    unlinkSync(path);
    return openSync(path, "wx", mode);
  }
}

/** The same for a small file at once. It may be lost with the power: for what can be made again. */
export function writeFresh(path: string, content: string, mode?: number): void {
  const file = openFresh(path, mode);
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}

/** undefined: it is not there, or is no JSON. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** What `writeAtomic` began in a folder and a kill cut off. Nobody else may write there meanwhile. */
export function removeBegun(folder: string): void {
  for (const name of readdirSync(folder))
    if (/\.\d+\.tmp$/.test(name)) rmSync(join(folder, name), { force: true });
}

/**
 * As `writeAtomic`, for a file that only one process writes: what a kill leaves behind has the same name each time,
 * and is used by whoever goes on.
 */
export function writeAlone(path: string, content: string, mode?: number): void {
  writeFresh(`${path}.tmp`, content, mode);
  renameSync(`${path}.tmp`, path);
}

/** Writes all of it: a single `write` may take less than it was given. */
export function writeFully(file: number, data: Buffer): void {
  for (let offset = 0; offset < data.length; ) {
    offset += writeSync(file, data, offset, data.length - offset);
  }
}
