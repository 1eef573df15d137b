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
  type CommitChange,
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
  const inGit = await gitSnapshot({ workspace, roots, patterns });
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
  const { roots, files, staged, committed } = snapshot;
  const onDisk = await undoFiles(keeper, snapshot, kept, "");
  const place = { ...keeper, roots };
  if (staged !== undefined) await putBackStaged(staged, place);
  return committed === undefined
    ? onDisk
    : withCommits(onDisk, await putBackCommitted(committed, files, place));
}

/** Undoes changes on disk. `when`: in words, where it was not while an agent worked. */
export async function undoFiles(
  { patterns, workspace, folder }: Keeper,
  snapshot: ProtectedSnapshot,
  kept: string,
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
    return [{ file, how, kept: how === "deleted" ? undefined : attempt(() => keepAside(file, kept)).value }];
  });
  const unwanted = [
    ...added.filter(({ real }) => !ignored.has(real)),
    ...[...closed.values()].filter(isAdded),
  ];
  const folders = new Set(snapshot.folders);
  const removed = unwanted.map((entry) => takenAway(entry, folders, kept));
  const left = compiled.filter(({ real }) => !copied.has(real)).flatMap(dropped);
  return [...changed.map((one) => restored(one, folder, when)), ...removed, ...left];
}

const HOW: Record<Difference, string> = {
  changed: "was changed",
  deleted: "was deleted",
  mode: "its mode was changed",
};

function restored(
  { file, how, kept }: { file: FileCopy; how: Difference; kept: string | undefined },
  folder: string,
  when: string,
): ProtectedChange {
  const { failure } = attempt(() => {
    putBack(file, folder);
    if (differenceOf(file, folder) !== undefined) throw new Error("it was changed again");
  });
  const what = `is protected, and ${HOW[how]}${when}: it ${ending("put back", failure)}`;
  return changeOf(file.shown, what, { kept, failed: failure });
}

/** What cannot be kept in the records stays where it is. */
function takenAway(entry: Entry, folders: Set<string>, records: string): ProtectedChange {
  const aside = attempt(() => keepAside(entry, records));
  const { failure } = aside.failure === undefined ? attempt(() => takeAway(entry, folders)) : aside;
  const what = `is new among the protected files: it ${ending("taken away", failure)}`;
  return { ...changeOf(entry.shown, what, { kept: aside.value, failed: failure }), isNew: true };
}

/** Drops bytecode, which is made again where it is needed. Reports only what could not be dropped. */
function dropped({ real, shown }: Entry): ProtectedChange[] {
  const { failure } = attempt(() => remove(real));
  if (failure === undefined) return [];
  const what = `is bytecode beside protected files: it ${ending("taken away", failure)}`;
  return [changeOf(shown, what, { failed: failure })];
}

/** Changes on disk, together with those in commits. */
function withCommits(changes: ProtectedChange[], committed: CommitChange[]): ProtectedChange[] {
  const onDisk = changes.map((one) => {
    const found = committed.find(({ file }) => file === one.file);
    if (found === undefined) return one;
    const where =
      found.failed === undefined ? "also in HEAD" : `but a commit holds another version (${found.failed})`;
    const failed = one.failed ?? found.failed;
    return { ...one, what: `${one.what}, ${where}`, ...(failed !== undefined && { failed }) };
  });
  const others = committed.filter(({ file }) => !changes.some((one) => one.file === file));
  const inGit = others.map(({ file, failed }) =>
    changeOf(file, `is protected, and was changed in a commit: it ${ending("put back", failed)}`, { failed }),
  );
  return [...onDisk, ...inGit];
}

function ending(what: string, failure: string | undefined): string {
  return failure === undefined ? `was ${what}` : `could not be ${what} (${failure})`;
}

function changeOf(
  file: string,
  what: string,
  { kept, failed }: { kept?: string | undefined; failed?: string | undefined },
): ProtectedChange {
  return {
    file,
    // A name must not add lines to the next prompt.
    what: `${file.replace(/\p{Cc}/gu, "?")} ${what}`,
    ...(kept !== undefined && { kept }),
    ...(failed !== undefined && { failed }),
  };
}

/** A file that fails must not keep the others from being put back. */
function attempt<Value>(action: () => Value): { value?: Value; failure?: string } {
  try {
    return { value: action() };
  } catch (error) {
    return { failure: describeSystemError(error) };
  }
}
