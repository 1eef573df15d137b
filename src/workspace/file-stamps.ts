import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";

/** `time`: any write counts, as a sign of life. `content`: only one that leaves another content behind. */
export type ChangeBy = "time" | "content";

/** More would cost too much to look at. */
const MAX_FILES = 20_000;

export interface StampOptions {
  by: ChangeBy;
  /** Names of files and folders that are not looked at below a folder. */
  skipped: Set<string>;
  /** Larger files are told apart by their times alone. */
  maxBytes: number;
}

/**
 * Words for the state of files, one after the path of each. A path that ends in `/` is a folder: all below it is
 * looked at but for names that are skipped; links are not followed. Paths are `latin1`, so that bytes that are no UTF-8 keep their names.
 */
export function stampsOf(root: string, paths: string[], options: StampOptions): string[] {
  const stamps: string[] = [];
  const left = paths.toReversed();
  for (let path = left.pop(); path !== undefined && stamps.length < MAX_FILES * 2; path = left.pop()) {
    if (path === "" || path.endsWith("/")) left.push(...entriesOf(root, path, options.skipped).toReversed());
    else stamps.push(path, stampOf(placeOf(root, path), options));
  }
  return stamps;
}

function entriesOf(root: string, folder: string, skipped: Set<string>): string[] {
  try {
    const entries = readdirSync(placeOf(root, folder), { withFileTypes: true, encoding: "latin1" });
    const looked = entries.filter(({ name }) => !skipped.has(name));
    return looked.map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`).sort();
  } catch {
    return [];
  }
}

function placeOf(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

function stampOf(place: Buffer, { by, maxBytes }: StampOptions): string {
  const stat = lstatOf(place);
  if (stat === undefined) return "gone";
  const content = by === "content" ? contentOf(place, stat, maxBytes) : undefined;
  return `${content ?? `${stat.mtimeMs} ${stat.ctimeMs}`} ${stat.size} ${stat.mode}`;
}

/** 0 for what is no file. */
export function sizeOf(root: string, path: string): number {
  const stat = lstatOf(placeOf(root, path));
  return stat?.isFile() ? stat.size : 0;
}

function lstatOf(place: Buffer): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch {
    // A part of the path became a file.
    return undefined;
  }
}

/** What files held when they were last read, and how they looked then. */
const known = new Map<string, { look: string; content: string }>();
const MAX_KNOWN = 4 * MAX_FILES;

/** A file that was changed a moment ago can be changed again without looking different. */
const SETTLED_MS = 1000;

function contentOf(place: Buffer, stat: Stats, maxBytes: number): string | undefined {
  if (stat.isSymbolicLink()) return readlinkSync(place, "latin1");
  if (!stat.isFile() || stat.size > maxBytes) return undefined;
  const key = place.toString("latin1");
  // No program sets the time of the last change (`ctime`) at will.
  const look = `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
  const before = known.get(key);
  if (before?.look === look) return before.content;
  const content = digestOf(place);
  if (content === undefined || Date.now() - stat.ctimeMs < SETTLED_MS) known.delete(key);
  else if (before !== undefined || known.size < MAX_KNOWN) known.set(key, { look, content });
  return content;
}

function digestOf(place: Buffer): string | undefined {
  try {
    return createHash("sha1").update(readFileSync(place)).digest("hex");
  } catch {
    return undefined;
  }
}
