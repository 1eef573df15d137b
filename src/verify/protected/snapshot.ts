import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError, RalphError } from "../../errors.js";
import type { Patterns } from "../../patterns.js";
import { writeAtomic } from "../../records/files.js";
import {
  copyOf,
  type Difference,
  differenceOf,
  type FileCopy,
  keepAside,
  putBack,
  remove,
  takeAway,
} from "./disk.js";
import { type Entry, findFiles, isWithin, type Root } from "./find.js";
import {
  committedInside,
  type GitSnapshot,
  gitSnapshot,
  type IgnoreRules,
  ignoredFiles,
  ignoreRules,
  putBackCommitted,
  putBackStaged,
} from "./in-git.js";

/** A protected file that was changed, and is what it was again unless that failed. */
export interface ProtectedChange {
  file: string;
  what: string;
  /** Copy of what an agent made of it. */
  kept?: string;
  /** It was not there before. */
  isNew?: true;
  /** Why it is not what it was. */
  failed?: string;
}

/** All protected files, as they were when it was taken. */
export interface ProtectedSnapshot extends GitSnapshot {
  roots: Root[];
  folders: string[];
  files: FileCopy[];
  /** Folders that were not searched. */
  closed?: string[];
  /** Files that git ignored. */
  ignored?: string[];
  rules?: IgnoreRules;
}

export interface Keeper {
  patterns: Patterns;
  workspace: string;
  /** For the snapshot, out of the agents' reach. */
  folder: string;
}

const FILE = "files.json";

export async function takeSnapshot({ patterns, workspace, folder }: Keeper): Promise<ProtectedSnapshot> {
  const { roots, files, folders, closed } = findFiles(patterns, workspace);
  const ignored = await ignoredFiles(files.values(), { workspace, patterns });
  const inGit = await gitSnapshot({ workspace, roots, patterns }, files.values());
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entries = [...files.values()].filter(({ real }) => !ignored.has(real));
  const copies = entries.map((entry, index) => copyOf(entry, folder, String(index)));
  const snapshot = {
    roots,
    folders: [...folders],
    files: copies.filter((file) => file !== undefined),
    closed: [...closed.keys()],
    ignored: [...ignored],
    rules: await ignoreRules(folders, workspace),
    ...inGit,
  };
  writeAtomic(join(folder, FILE), `${JSON.stringify(snapshot)}\n`);
  return snapshot;
}

/** undefined: none was taken. */
export function readSnapshot(folder: string): ProtectedSnapshot | undefined {
  const path = join(folder, FILE);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ProtectedSnapshot;
  } catch (error) {
    throw new RalphError(`the record of the protected files cannot be read: ${path}`, {
      code: "protected_damaged",
      hint: "start a new run",
      cause: error,
    });
  }
}

/** Undoes changes on disk, in the index and in commits. `kept`: the folder for what was there. */
export async function undoAll(
  keeper: Keeper,
  snapshot: ProtectedSnapshot,
  kept: string,
): Promise<ProtectedChange[]> {
  const { roots, files, staged, committed, inner = {} } = snapshot;
  const onDisk = await undoFiles(keeper, snapshot, kept, "");
  const place = { ...keeper, roots };
  if (staged !== undefined) await putBackStaged(staged, place);
  const inCommits = [
    ...(committed === undefined ? [] : await putBackCommitted(committed, files, place)),
    ...(await committedInside(inner, files, place)),
  ];
  const changes = new Map(onDisk.map((one) => [one.file, one]));
  for (const { file, failed } of inCommits) {
    const before = changes.get(file);
    const where = failed === undefined ? "also in HEAD" : `but a commit holds another version (${failed})`;
    changes.set(
      file,
      before === undefined
        ? changeOf("committed", file, { failed })
        : { ...before, what: `${before.what}, ${where}`, ...(failed !== undefined && { failed }) },
    );
  }
  return [...changes.values()];
}

/** Undoes changes on disk. `when`: in words, where it was not while an agent worked. */
export async function undoFiles(
  { patterns, workspace, folder }: Keeper,
  snapshot: ProtectedSnapshot,
  records: string,
  when: string,
): Promise<ProtectedChange[]> {
  const { files, closed, compiled } = findFiles(patterns, workspace, snapshot.roots);
  const copied = new Set(snapshot.files.map(({ real }) => real));
  const known = new Set([...copied, ...(snapshot.closed ?? closed.keys()), ...(snapshot.ignored ?? [])]);
  // A folder elsewhere is not the run's own: other programs may write there.
  const isAdded = ({ real }: Entry): boolean => !known.has(real) && isWithin(real, workspace);
  const added = [...files.values()].filter(isAdded);
  const ignored = await ignoredFiles(added, { workspace, patterns }, snapshot.rules);
  const changed = snapshot.files.flatMap((file) => {
    const how = files.has(file.real) ? differenceOf(file, folder) : "deleted";
    if (how === undefined) return [];
    return [
      { file, how, kept: how === "deleted" ? undefined : attempt(() => keepAside(file, records)).value },
    ];
  });
  const unwanted = [
    ...added.filter(({ real }) => !ignored.has(real)),
    ...[...closed.values()].filter(isAdded),
  ];
  const folders = new Set(snapshot.folders);
  const removed = unwanted.map((entry): ProtectedChange => {
    // What cannot be kept in the records stays where it is.
    const aside = attempt(() => keepAside(entry, records));
    const { failed } = aside.failed === undefined ? attempt(() => takeAway(entry, folders)) : aside;
    return { ...changeOf("added", entry.shown, { kept: aside.value, failed }), isNew: true };
  });
  // Bytecode is made again where it is needed.
  const left = compiled.flatMap(({ real, shown }) => {
    const { failed } = copied.has(real) ? {} : attempt(() => remove(real));
    return failed === undefined ? [] : [changeOf("compiled", shown, { failed })];
  });
  const restored = changed.map(({ file, how, kept }) => {
    const { failed } = attempt(() => {
      putBack(file, folder);
      if (differenceOf(file, folder) !== undefined) throw new Error("it was changed again");
    });
    return changeOf(how, file.shown, { kept, failed, when });
  });
  return [...restored, ...removed, ...left];
}

/** What happened to a protected file, and how it is undone. */
const WORDS = {
  changed: ["is protected, and was changed", "put back"],
  deleted: ["is protected, and was deleted", "put back"],
  mode: ["is protected, and its mode was changed", "put back"],
  committed: ["is protected, and was changed in a commit", "put back"],
  added: ["is new among the protected files", "taken away"],
  compiled: ["is bytecode beside protected files", "taken away"],
} satisfies Record<Difference | "committed" | "added" | "compiled", [string, string]>;

function changeOf(
  kind: keyof typeof WORDS,
  file: string,
  more: { kept?: string | undefined; failed?: string | undefined; when?: string },
): ProtectedChange {
  const { kept, failed, when = "" } = more;
  const [what, action] = WORDS[kind];
  const end = failed === undefined ? `was ${action}` : `could not be ${action} (${failed})`;
  return {
    file,
    // A name must not add lines to the next prompt.
    what: `${file.replace(/\p{Cc}/gu, "?")} ${what}${when}: it ${end}`,
    ...(kept !== undefined && { kept }),
    ...(failed !== undefined && { failed }),
  };
}

/** A file that fails must not keep the others from being put back. */
function attempt<Value>(action: () => Value): { value?: Value; failed?: string } {
  try {
    return { value: action() };
  } catch (error) {
    return { failed: describeSystemError(error) };
  }
}
