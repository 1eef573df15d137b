import {
  chmodSync,
  copyFileSync,
  constants as fs,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../errors.js";
import { writeAtomic } from "../../records/files.js";
import type { Committed } from "./committed.js";
import { entryAt } from "./entry.js";
import type { Looked, Root, Seen } from "./look.js";
import type { Staged } from "./staged.js";

/** A file as it was. */
export interface Kept extends Seen {
  mode: number;
  /** Where a link leads. */
  target?: string;
  /** Name of the copy of a file. */
  copy?: string;
}

/** All that is protected, as it was when it was taken. */
export interface Snapshot {
  roots: Root[];
  folders: string[];
  files: Kept[];
  /** What was not looked into; left out in records of earlier versions. */
  closed?: string[];
  staged?: Staged | undefined;
  committed?: Committed | undefined;
}

const FILE = "files.json";

/** Copies everything into a folder that no agent writes to. */
export function takeSnapshot(
  { roots, files, folders, closed }: Looked,
  inGit: Pick<Snapshot, "staged" | "committed">,
  folder: string,
): Snapshot {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = [...files.values()].map((seen, index) => keep(seen, folder, String(index)));
  const snapshot = {
    roots,
    folders: [...folders],
    files: kept.filter((file) => file !== undefined),
    closed: [...closed.keys()],
    ...inGit,
  };
  writeAtomic(join(folder, FILE), `${JSON.stringify(snapshot)}\n`);
  return snapshot;
}

/** undefined where none was taken. */
export function readSnapshot(folder: string): Snapshot | undefined {
  const path = join(folder, FILE);
  if (entryAt(path) === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Snapshot;
  } catch (error) {
    throw new RalphError(`the record of the protected files cannot be read: ${path}`, {
      code: "protected_damaged",
      hint: "start a new run",
      cause: error,
    });
  }
}

function keep(seen: Seen, folder: string, copy: string): Kept | undefined {
  const stat = entryAt(seen.real);
  if (stat === undefined) return undefined;
  const mode = stat.mode & MODE_BITS;
  if (stat.isSymbolicLink()) return { ...seen, mode, target: readlinkSync(seen.real) };
  // A pipe or a socket has nothing that could be put back.
  if (!stat.isFile()) return undefined;
  copyFileSync(seen.real, join(folder, copy), fs.COPYFILE_FICLONE);
  chmodSync(join(folder, copy), 0o600);
  return { ...seen, mode, copy };
}

const MODE_BITS = 0o7777;

export type Difference = "changed" | "deleted" | "mode";

/** How a file differs from what it was; undefined: not at all. */
export function differenceOf(kept: Kept, now: Seen | undefined, folder: string): Difference | undefined {
  const stat = now === undefined ? undefined : entryAt(kept.real);
  if (stat === undefined) return "deleted";
  if (kept.target !== undefined)
    return stat.isSymbolicLink() && readlinkSync(kept.real) === kept.target ? undefined : "changed";
  if (!stat.isFile() || !hasContent(kept, stat, join(folder, kept.copy ?? ""))) return "changed";
  return (stat.mode & MODE_BITS) === kept.mode ? undefined : "mode";
}

function hasContent({ real }: Kept, { size }: Stats, copy: string): boolean {
  if (lstatSync(copy).size !== size) return false;
  try {
    return readFileSync(real).equals(readFileSync(copy));
  } catch {
    return false;
  }
}
