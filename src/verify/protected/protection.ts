import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilePatterns } from "../../patterns.js";
import { createKeeper } from "./keeper.js";
import { lookFor } from "./look.js";
import { readSnapshot, type Snapshot } from "./snapshot.js";
import type { Undone } from "./undo.js";

export type { Undone };

export interface ProtectionPlace {
  workspace: string;
  /** Folder of the run: what it holds is believed. */
  records: string;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
}

export interface Protection {
  /** Before an agent begins. Returns what was undone that was changed when it was nobody's turn. */
  begin(iteration: number, answered: boolean): Promise<Undone[]>;
  /** When an agent has ended: undoes what it did. */
  undo(iteration: number): Promise<Undone[]>;
  /** After a check: undoes what it did, and tells why the check does not count, if it does not. */
  spoiled(): Promise<string | undefined>;
  /** What checks did since the agent ended that they may not do. */
  spoiledBy(): Undone[];
  /** The iteration is over: what somebody changes before the next process is theirs. */
  end(): void;
  /** Whether an agent began that was not judged. */
  isOpen(): boolean;
  /** The user had the chance to change files: the next iteration takes them as they are. */
  release(): void;
}

/** Keeps files as they are at the start of a run, in the user's own state of them, committed or not. */
export function createProtection(patterns: readonly string[], place: ProtectionPlace): Protection {
  const { workspace, records, folderFor } = place;
  const folder = join(records, "protected");
  const open = join(records, "protected.open");
  const keeper = createKeeper(compilePatterns(patterns), workspace, folder);
  let snapshot: Snapshot | undefined;
  let current = 0;
  let isBegun = false;
  /** What is not what it was, by its name. */
  let failed = new Map<string, Undone>();
  const byChecks = new Map<string, Undone>();
  let last: Promise<unknown> = Promise.resolve();
  /** Checks may end at the same time. */
  const inTurn = <Value>(action: () => Promise<Value>): Promise<Value> => {
    const mine = last.then(action);
    last = mine.catch(() => undefined);
    return mine;
  };
  const undo = async (): Promise<Undone[]> => {
    const undone = snapshot === undefined ? [] : await keeper.undo(snapshot, folderFor(current));
    failed = new Map(undone.filter((one) => one.failed !== undefined).map((one) => [one.file, one]));
    return undone;
  };
  /** Checks may leave files of their own among the protected ones: these are taken away, and nobody is to blame. */
  const undoOfCheck = async (): Promise<string | undefined> => {
    if (snapshot === undefined) return undefined;
    const undone = await keeper.undoFiles(snapshot, folderFor(current), " while a check ran");
    const wrong = undone.filter((one) => !one.isNew || one.failed !== undefined);
    const told = new Map([...wrong.map((one) => [one.file, one] as const), ...failed]);
    for (const [file, one] of told) byChecks.set(file, one);
    return told.size === 0 ? undefined : [...told.values()].map(({ what }) => what).join("\n");
  };

  return {
    async begin(iteration, answered) {
      current = iteration;
      snapshot ??= existsSync(open) ? readSnapshot(folder) : undefined;
      const undone = snapshot === undefined || answered ? [] : await inTurn(undo);
      snapshot ??= await keeper.take();
      writeFileSync(open, "", { mode: 0o600 });
      isBegun = true;
      return undone;
    },
    undo(iteration) {
      current = iteration;
      byChecks.clear();
      return inTurn(undo);
    },
    spoiled: () => inTurn(undoOfCheck),
    spoiledBy: () => [...byChecks.values()],
    end() {
      isBegun = false;
      // What could not be put back is still wanted, also by a later process.
      if (failed.size === 0) rmSync(open, { force: true });
    },
    isOpen: () => snapshot !== undefined && isBegun,
    release: () => {
      snapshot = undefined;
    },
  };
}

/** Patterns that mean no file so far: most often a slip of the pen. */
export function withoutFiles(patterns: readonly string[], workspace: string): string[] {
  return patterns.filter((pattern) => lookFor(compilePatterns([pattern]), workspace).files.size === 0);
}
