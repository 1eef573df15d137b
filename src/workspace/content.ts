import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs";
import { orElse } from "../errors.js";

/** What files held when they were last read, and how they looked from outside then. */
const known = new Map<string, { signs: string; digest: string }>();
const MAX_KNOWN = 80_000;

/** A file that was changed a moment ago can be changed again without looking different. */
const SETTLED_MS = 1000;

/** A digest of what a file holds; it is read again only when it looks different. undefined: it cannot be read. */
function digestOf(path: string | Buffer, stat: Stats): string | undefined {
  const key = path.toString("latin1");
  // No program sets the time of the last change (`ctime`) at will.
  const signs = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
  const before = known.get(key);
  if (before?.signs === signs) return before.digest;
  known.delete(key);
  try {
    const digest = createHash("sha256").update(readFileSync(path)).digest("hex");
    if (Date.now() - stat.ctimeMs >= SETTLED_MS && known.size < MAX_KNOWN) known.set(key, { signs, digest });
    return digest;
  } catch {
    return undefined;
  }
}

/** A word for what stands at a path, its mode included. Files larger than `maxBytes` are told apart by their times. */
export function stateOf(path: string | Buffer, maxBytes: number): string {
  const stat = statOf(path);
  if (stat === undefined) return "gone";
  if (stat.isSymbolicLink()) return `link ${linkAt(path)}`;
  const digest = stat.isFile() && stat.size <= maxBytes ? digestOf(path, stat) : undefined;
  return digest === undefined ? timesOf(stat) : `${digest} ${stat.mode}`;
}

function timesOf({ mtimeMs, ctimeMs, size, mode }: Stats): string {
  return `${mtimeMs} ${ctimeMs} ${size} ${mode}`;
}

/** undefined: nothing is there, or a part of the path is not a folder. */
export function statOf(path: string | Buffer): Stats | undefined {
  return orElse(() => lstatSync(path, { throwIfNoEntry: false }), undefined);
}

function linkAt(path: string | Buffer): string {
  return orElse(() => readlinkSync(path, "latin1"), "");
}

/** More than ralph reads of a file whose text it has to know. */
const MAX_TEXT_BYTES = 5 * 1024 * 1024;

/** undefined where there is not a plain file of that size: an agent can put anything in its place, such as a pipe. */
export function textAt(path: string, maxBytes = MAX_TEXT_BYTES): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** A path whose name is `latin1`, as bytes. */
export function pathIn(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]);
}

/** Such a name, to be shown. */
export function asText(name: string): string {
  return Buffer.from(name, "latin1").toString("utf8");
}
