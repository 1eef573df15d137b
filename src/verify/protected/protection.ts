import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError, RalphError } from "../../errors.js";
import { compilePatterns, type Patterns } from "../../patterns.js";
import { writeAtomic } from "../../records/files.js";
import {
  copyOf,
  differenceOf,
  type FileCopy,
  findFiles,
  isWithin,
  keepAside,
  type PathEntry,
  protectedName,
  putBack,
  type Root,
  remove,
  removeFolders,
} from "./find.js";
import {
  type CommitChange,
  ignoredFiles,
  ignoreRules,
  type RepositorySnapshot,
  repositorySnapshots,
  undoInGit,
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

export type Protection = ReturnType<typeof createProtection>;

/**
 * Keeps files as they are at the start of a run, in the user's own state of them, committed or not. `records` is the
 * folder of the run, which ralph believes; `folderFor` has that of an iteration.
 */
export function createProtection(
  patterns: readonly string[],
  setup: { workspace: string; records: string; folderFor(iteration: number): string },
) {
  const { workspace, records, folderFor } = setup;
  const open = join(records, "protected.open");
  const keeper = { patterns: compilePatterns(patterns), workspace, folder: join(records, "protected") };
  let snapshot: ProtectedSnapshot | undefined;
  let current = 0;
  let isBegun = false;
  /** What is not what it was, by its name. */
  let failed = new Map<string, ProtectedChange>();
  const byChecks = new Map<string, ProtectedChange>();
  let last: Promise<unknown> = Promise.resolve();
  /** Checks may end at the same time. */
  const inTurn = <Value>(action: () => Promise<Value>): Promise<Value> => {
    const mine = last.then(action);
    last = mine.catch(() => undefined);
    return mine;
  };
  const undo = async (): Promise<ProtectedChange[]> => {
    const changes = snapshot === undefined ? [] : await undoAll(keeper, snapshot, folderFor(current));
    failed = new Map(changes.filter((one) => one.failed !== undefined).map((one) => [one.file, one]));
    return changes;
  };
  /** Checks may leave files of their own among the protected ones: they are removed, and nobody is blamed. */
  const undoCheck = async (): Promise<string | undefined> => {
    if (snapshot === undefined) return undefined;
    const changes = await undoFiles(keeper, snapshot, folderFor(current), " while a check ran");
    const wrong = changes.filter((one) => !one.isNew || one.failed !== undefined);
    const all = new Map([...wrong.map((one) => [one.file, one] as const), ...failed]);
    for (const [file, one] of all) byChecks.set(file, one);
    return all.size === 0 ? undefined : [...all.values()].map(({ what }) => what).join("\n");
  };

  return {
    /** Before an agent begins. Returns what was changed, and undone, when no agent was at work. */
    async begin(iteration: number, answered: boolean): Promise<ProtectedChange[]> {
      current = iteration;
      snapshot ??= existsSync(open) ? readSnapshot(keeper.folder) : undefined;
      const changes = snapshot === undefined || answered ? [] : await inTurn(undo);
      snapshot ??= await takeSnapshot(keeper);
      writeFileSync(open, "", { mode: 0o600 });
      isBegun = true;
      return changes;
    },
    /** When an agent has ended: undoes what it did. */
    undo(iteration: number): Promise<ProtectedChange[]> {
      current = iteration;
      byChecks.clear();
      return inTurn(undo);
    },
    /** After a check: undoes what it did, and says why the check does not count, if it does not. */
    spoiled: () => inTurn(undoCheck),
    spoiledBy: () => [...byChecks.values()],
    /** The iteration is over: what a person changes before the next process is theirs. */
    end(): void {
      isBegun = false;
      // What could not be put back is still wanted, also by a later process.
      if (failed.size === 0) rmSync(open, { force: true });
    },
    /** Whether an agent began that was not judged. */
    isOpen: () => snapshot !== undefined && isBegun,
    /** The user had the chance to change files: the next iteration takes them as they are. */
    release(): void {
      snapshot = undefined;
    },
  };
}

/** Patterns that name no file so far: most often a typing mistake. */
export function withoutFiles(patterns: readonly string[], workspace: string): string[] {
  return patterns.filter((pattern) => findFiles(compilePatterns([pattern]), workspace).files.size === 0);
}

/** All protected files, as they were when it was taken. */
interface ProtectedSnapshot {
  roots: Root[];
  folders: string[];
  files: FileCopy[];
  /** What was there and is not kept: folders that are not searched, and files that git ignored. */
  others: string[];
  rules: string[];
  repositories: RepositorySnapshot[];
}

interface Keeper {
  patterns: Patterns;
  workspace: string;
  /** For the snapshot, out of the agents' reach. */
  folder: string;
}

const FILE = "files.json";

async function takeSnapshot({ patterns, workspace, folder }: Keeper): Promise<ProtectedSnapshot> {
  const { roots, files, folders, closed } = findFiles(patterns, workspace);
  const ignored = await ignoredFiles(files.values(), { workspace, patterns });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entries = [...files.values()].filter(({ real }) => !ignored.has(real));
  const snapshot: ProtectedSnapshot = {
    ...{ roots, folders: [...folders], others: [...closed.keys(), ...ignored] },
    files: entries.flatMap((entry, index) => copyOf(entry, folder, String(index)) ?? []),
    rules: await ignoreRules(folders, workspace),
    repositories: await repositorySnapshots(workspace, files.values()),
  };
  writeAtomic(join(folder, FILE), `${JSON.stringify(snapshot)}\n`);
  return snapshot;
}

/** undefined: none was taken. */
function readSnapshot(folder: string): ProtectedSnapshot | undefined {
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
async function undoAll(
  keeper: Keeper,
  snapshot: ProtectedSnapshot,
  kept: string,
): Promise<ProtectedChange[]> {
  const { workspace, patterns } = keeper;
  const changes = new Map((await undoFiles(keeper, snapshot, kept, "")).map((one) => [one.file, one]));
  const names = new Map(snapshot.files.map(({ real, shown }) => [real, shown]));
  const nameOf = (real: string) => names.get(real) ?? protectedName(real, workspace, patterns);
  const inGit: CommitChange[] = [];
  for (const one of snapshot.repositories) inGit.push(...(await undoInGit(workspace, one, nameOf)));
  for (const { file, failed } of inGit) {
    const { what, ...onDisk } = changes.get(file) ?? {};
    const where = failed === undefined ? "also in HEAD" : `but a commit holds another version (${failed})`;
    const change = changeOf("committed", file, { failed });
    changes.set(file, { ...onDisk, ...change, what: what === undefined ? change.what : `${what}, ${where}` });
  }
  return [...changes.values()];
}

/** Undoes changes on disk. `when`: in words, where it was not while an agent worked. */
async function undoFiles(
  { patterns, workspace, folder }: Keeper,
  snapshot: ProtectedSnapshot,
  records: string,
  when: string,
): Promise<ProtectedChange[]> {
  const { files, closed, bytecode } = findFiles(patterns, workspace, snapshot.roots);
  const copied = new Set(snapshot.files.map(({ real }) => real));
  const known = new Set([...copied, ...snapshot.others]);
  // A folder elsewhere is not the run's own: other programs may write there.
  const isAdded = ({ real }: PathEntry): boolean => !known.has(real) && isWithin(real, workspace);
  const added = [...files.values()].filter(isAdded);
  const ignored = await ignoredFiles(added, { workspace, patterns }, snapshot.rules);
  const unwanted = [
    ...added.filter(({ real }) => !ignored.has(real)),
    ...[...closed.values()].filter(isAdded),
  ];
  // All of them are moved away first: one can be in the way of another.
  const changed = snapshot.files.flatMap((file) => {
    const how = files.has(file.real) ? differenceOf(file) : "deleted";
    if (how === undefined) return [];
    return [{ file, how, kept: how === "deleted" ? {} : attempt(() => keepAside(file, records)) }];
  });
  const folders = new Set(snapshot.folders);
  const removed = unwanted.map((entry): ProtectedChange => {
    const { value: kept, failed } = attempt(() => keepAside(entry, records));
    const more = { kept, failed: failed ?? attempt(() => removeFolders(entry, folders)).failed };
    return { ...changeOf("added", entry.shown, more), isNew: true };
  });
  // Bytecode is made again where it is needed.
  const left = bytecode.flatMap(({ real, shown }) => {
    const { failed } = copied.has(real) ? {} : attempt(() => remove(real));
    return failed === undefined ? [] : [changeOf("compiled", shown, { failed })];
  });
  const restored = changed.map(({ file, how, kept }) => {
    const { failed } = attempt(() => {
      putBack(file, folder);
      if (differenceOf(file) !== undefined) throw new Error("it was changed again");
    });
    return changeOf(how, file.shown, { kept: kept.value, failed, when });
  });
  return [...restored, ...removed, ...left];
}

/** What happened to a protected file, and how it is undone. */
const WORDS = {
  changed: ["is protected, but it changed", "restore"],
  deleted: ["is protected, but it was deleted", "restore"],
  committed: ["is protected, but a commit changed it", "restore"],
  added: ["is new among the protected files", "remove"],
  compiled: ["is bytecode beside protected files", "remove"],
} satisfies Record<string, [string, string]>;

function changeOf(
  kind: keyof typeof WORDS,
  file: string,
  { kept, failed, when = "" }: { kept?: string | undefined; failed?: string | undefined; when?: string },
): ProtectedChange {
  const [what, action] = WORDS[kind];
  const end = failed === undefined ? `${action}d it` : `could not ${action} it (${failed})`;
  return {
    file,
    // A name must not add lines to the next prompt.
    what: `${file.replace(/\p{Cc}/gu, "?")} ${what}${when}: ralph ${end}`,
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
