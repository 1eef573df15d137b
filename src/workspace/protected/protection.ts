import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilePatterns } from "../../patterns.js";
import { ignoredBefore, ignoredFiles, keepRules } from "./ignored.js";
import { isWithin, lookAgain, lookFor } from "./look.js";
import { differenceOf, readSnapshot, type Snapshot, takeSnapshot } from "./snapshot.js";
import { putBackStaged, stagedOf } from "./staged.js";
import { createUnchanged } from "./unchanged.js";
import { keptOf, putBackAll, takeAwayAll, type Undone } from "./undo.js";

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
  const rules = join(folder, "rules");
  const open = join(records, "protected.open");
  const meant = compilePatterns(patterns);
  let unchanged = createUnchanged();
  let snapshot: Snapshot | undefined;

  const take = async (): Promise<Snapshot> => {
    const looked = lookFor(meant, workspace);
    unchanged = createUnchanged();
    const ignored = await ignoredFiles(looked.files.values(), meant, workspace);
    for (const real of ignored) looked.files.delete(real);
    const taken = takeSnapshot(looked, await stagedOf(meant, looked.roots, workspace), folder);
    await keepRules(looked.folders, workspace, rules);
    return taken;
  };
  const undo = async (iteration: number): Promise<Undone[]> =>
    snapshot === undefined ? [] : undoAll(snapshot, folderFor(iteration));
  const before = (): Snapshot | undefined =>
    snapshot ?? (existsSync(open) ? readSnapshot(folder) : undefined);

  return {
    async begin(iteration, answered) {
      snapshot = before();
      const undone = snapshot === undefined || answered ? [] : await undo(iteration);
      snapshot ??= await take();
      writeFileSync(open, "");
      return undone;
    },
    undo,
    end: () => rmSync(open, { force: true }),
    isOpen: () => snapshot !== undefined && existsSync(open),
    release: () => {
      snapshot = undefined;
    },
  };

  async function undoAll(taken: Snapshot, kept: string): Promise<Undone[]> {
    const looked = lookAgain(meant, taken.roots);
    const known = new Set(taken.files.map(({ real }) => real));
    // A folder elsewhere is not the run's own: others may write there, too.
    const added = [...looked.files.values()].filter(
      ({ real }) => !known.has(real) && isWithin(real, workspace),
    );
    const ignored = await ignoredBefore(added, meant, workspace, rules);
    const changed = taken.files.flatMap((file) => {
      const now = looked.files.get(file.real);
      if (now !== undefined && unchanged.isUnchanged(file.real)) return [];
      const how = differenceOf(file, now, folder);
      if (how === undefined) unchanged.remember(file.real);
      if (how === undefined) return [];
      return [{ file, how, kept: how === "deleted" ? undefined : keptOf(file, kept) }];
    });
    const unwanted = added.filter(({ real }) => !ignored.has(real));
    const removed = takeAwayAll(unwanted, new Set(taken.folders), kept);
    const back = putBackAll(changed, folder);
    const staged = taken.staged && (await stagedOf(meant, taken.roots, workspace));
    if (taken.staged && staged) await putBackStaged(taken.staged, staged, workspace);
    return [...back, ...removed];
  }
}

/** Patterns that mean no file so far: most often a slip of the pen. */
export function withoutFiles(patterns: readonly string[], workspace: string): string[] {
  return patterns.filter((pattern) => lookFor(compilePatterns([pattern]), workspace).files.size === 0);
}
