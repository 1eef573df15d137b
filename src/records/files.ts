import fs, { type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { orElse, RalphError, systemErrorCode } from "../errors.js";

/** Like `mkdir -p`. Node's own way of doing that never ends where the system makes no folder, as below `/proc`. */
export function makeFolders(path: string, mode?: number): void {
  if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolders(dirname(path), mode);
  isMade(() => fs.mkdirSync(path, { mode }));
}

/** false: it is there already. */
export function isMade(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

const PRIVATE_FOLDER = 0o700;

/** For its owner alone, also where an earlier release or somebody else has made it. */
export function makePrivateFolder(path: string): void {
  makeFolders(path, PRIVATE_FOLDER);
  const { mode, uid } = fs.statSync(path);
  if ((mode & 0o777) !== PRIVATE_FOLDER && uid === process.getuid?.()) fs.chmodSync(path, PRIVATE_FOLDER);
}

/** Takes all rights to a folder and all in it from everybody else. Links are left alone. */
export function closeToOthers(path: string): void {
  for (const entry of [".", ...fs.readdirSync(path, { recursive: true, encoding: "utf8" })]) {
    const stat = fs.lstatSync(join(path, entry), { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink() || (stat.mode & 0o077) === 0) continue;
    if (stat.uid === process.getuid?.()) fs.chmodSync(join(path, entry), stat.mode & PRIVATE_FOLDER);
  }
}

/** A link as such. undefined: there is nothing, or a file stands where a folder would have to. */
export function entryAt(path: string): Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
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
    return fs.realpathSync(path);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT" || !entry.isSymbolicLink()) throw error;
    return realPlace(resolve(dirname(path), fs.readlinkSync(path)));
  }
}

/** Readers see the old content or the new one, never a part. */
export function writeAtomic(path: string, content: string, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFresh(temporary, content, mode, { flush: true });
    fs.renameSync(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes what `writeAtomic` began in a folder and a kill cut off. Nobody else may write there meanwhile. */
export function removeBegun(folder: string): void {
  for (const name of fs.readdirSync(folder))
    if (/\.\d+\.tmp$/.test(name)) fs.rmSync(join(folder, name), { force: true });
}

/** As `writeAtomic`, for a file that only one process writes: a kill leaves no more than one file behind. */
export function writeAlone(path: string, content: string, mode?: number): void {
  writeFresh(`${path}.tmp`, content, mode);
  fs.renameSync(`${path}.tmp`, path);
}

/**
 * Opens a file in a folder that agents can write to. What is there is removed first and links are not followed, so
 * that a planted link cannot make ralph overwrite another file.
 */
export function openFresh(path: string, mode = 0o644): number {
  try {
    return fs.openSync(path, "wx", mode);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
    fs.unlinkSync(path);
    return fs.openSync(path, "wx", mode);
  }
}

/** The same for a small file at once. Without `flush` it may be lost with the power: for what can be made again. */
export function writeFresh(path: string, content: string, mode?: number, options?: { flush: boolean }): void {
  const file = openFresh(path, mode);
  try {
    fs.writeFileSync(file, content, options);
  } finally {
    fs.closeSync(file);
  }
}

/** undefined: it is not there, or is no JSON. */
export function readJson(file: string): unknown {
  // Asking first: an error takes longer to make, and most of these files are not there.
  return fs.existsSync(file) ? orElse(() => JSON.parse(fs.readFileSync(file, "utf8")), undefined) : undefined;
}

/** `?`: or null. */
export type Kind = "string" | "number" | "boolean" | "object" | "array" | "string?" | "number?";

/** Whether it is an object with these fields. Not zod: loading that is a tenth of the start of `ralph run`. */
export function has(value: unknown, fields: Record<string, Kind>): value is Record<string, unknown> {
  const isOf = (one: unknown, kind: string): boolean => {
    if (kind.endsWith("?")) return one === null || isOf(one, kind.slice(0, -1));
    if (kind === "number") return Number.isFinite(one);
    return kind === (Array.isArray(one) ? "array" : one === null ? "null" : typeof one);
  };
  const object = value as Record<string, unknown>;
  return isOf(value, "object") && Object.entries(fields).every(([name, kind]) => isOf(object[name], kind));
}

/** Those of a list that have these fields; none where it is no list. */
export function listOf<Item>(value: unknown, fields: Record<string, Kind>): Item[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.filter((one) => has(one, fields)) as Item[];
}

/** A short word that is the same for the same text. */
export async function digest(text: string): Promise<string> {
  // Loaded when needed: most runs never fail in a way that has to be compared.
  const { createHash } = await import("node:crypto");
  return createHash("sha1").update(text).digest("hex");
}

/** A pipe in the place of a file would be waited for, and nothing could end that. */
export function refuseSpecialFile(path: string, name = path): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile() || stat.isDirectory()) return;
  throw new RalphError(`cannot read ${name}: it is not a plain file`, {
    code: "not_a_file",
    hint: "put a file in its place, or remove it",
  });
}
