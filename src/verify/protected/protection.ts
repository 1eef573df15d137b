import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilePatterns } from "../../patterns.js";
import { findFiles } from "./find.js";
import {
  type ProtectedChange,
  type ProtectedSnapshot,
  readSnapshot,
  takeSnapshot,
  undoAll,
  undoFiles,
} from "./snapshot.js";

export interface ProtectionPlace {
  workspace: string;
  /** Folder of the run: what it holds is believed. */
  records: string;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
}

export interface Protection {
  /** Before an agent begins. Returns what was changed, and undone, when no agent was at work. */
  begin(iteration: number, answered: boolean): Promise<ProtectedChange[]>;
  /** When an agent has ended: undoes what it did. */
  undo(iteration: number): Promise<ProtectedChange[]>;
  /** After a check: undoes what it did, and says why the check does not count, if it does not. */
  spoiled(): Promise<string | undefined>;
  /** What checks changed since the agent ended. */
  spoiledBy(): ProtectedChange[];
  /** The iteration is over: what a person changes before the next process is theirs. */
  end(): void;
  /** Whether an agent began that was not judged. */
  isOpen(): boolean;
  /** The user had the chance to change files: the next iteration takes them as they are. */
  release(): void;
}

/** Keeps files as they are at the start of a run, in the user's own state of them, committed or not. */
export function createProtection(patterns: readonly string[], place: ProtectionPlace): Protection {
  const { workspace, records, folderFor } = place;
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
    async begin(iteration, answered) {
      current = iteration;
      snapshot ??= existsSync(open) ? readSnapshot(keeper.folder) : undefined;
      const changes = snapshot === undefined || answered ? [] : await inTurn(undo);
      snapshot ??= await takeSnapshot(keeper);
      writeFileSync(open, "", { mode: 0o600 });
      isBegun = true;
      return changes;
    },
    undo(iteration) {
      current = iteration;
      byChecks.clear();
      return inTurn(undo);
    },
    spoiled: () => inTurn(undoCheck),
    spoiledBy: () => [...byChecks.values()],
    end() {
      isBegun = false;
      // What could not be put back is still wanted, also by a later process.
      if (failed.size === 0) rmSync(open, { force: true });
    },
    isOpen: () => snapshot !== undefined && isBegun,
    release() {
      snapshot = undefined;
    },
  };
}

/** Patterns that name no file so far: most often a typing mistake. */
export function withoutFiles(patterns: readonly string[], workspace: string): string[] {
  return patterns.filter((pattern) => findFiles(compilePatterns([pattern]), workspace).files.size === 0);
}
