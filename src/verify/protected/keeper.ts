import { join } from "node:path";
import type { Patterns } from "../../patterns.js";
import { committedNow, putBackCommitted } from "./committed.js";
import { ignoredBefore, ignoredFiles, keepRules } from "./ignored.js";
import { isWithin, lookAgain, lookFor, type Seen } from "./look.js";
import { differenceOf, type Snapshot, takeSnapshot } from "./snapshot.js";
import { putBackStaged, stagedOf } from "./staged.js";
import { createUnchanged } from "./unchanged.js";
import { dropAll, keptOf, putBackAll, takeAwayAll, type Undone, withCommitted } from "./undo.js";

/** Takes snapshots of what the patterns mean into a folder, and makes everything what it was. */
export function createKeeper(patterns: Patterns, workspace: string, folder: string) {
  const rules = join(folder, "rules");
  let unchanged = createUnchanged();

  return { take, undo, undoFiles };

  async function take(): Promise<Snapshot> {
    const looked = lookFor(patterns, workspace);
    const { roots } = looked;
    unchanged = createUnchanged();
    const ignored = await ignoredFiles(looked.files.values(), patterns, workspace);
    for (const real of ignored) looked.files.delete(real);
    const [staged, committed] = await Promise.all([
      stagedOf(patterns, roots, workspace),
      committedNow({ workspace, roots, patterns }),
    ]);
    const taken = takeSnapshot(looked, { staged, committed }, folder);
    await keepRules(looked.folders, workspace, rules);
    return taken;
  }

  /** On the disk, in the index and in commits. `kept`: the folder for what was there. */
  async function undo(taken: Snapshot, kept: string): Promise<Undone[]> {
    const { roots, files } = taken;
    const onDisk = await undoFiles(taken, kept, "");
    const staged = taken.staged && (await stagedOf(patterns, roots, workspace));
    if (taken.staged && staged) await putBackStaged(taken.staged, staged, workspace);
    if (taken.committed === undefined) return onDisk;
    return withCommitted(
      onDisk,
      await putBackCommitted(taken.committed, files, { workspace, roots, patterns }),
    );
  }

  /** On the disk alone. `when`: in words, where it was not while an agent worked. */
  async function undoFiles(taken: Snapshot, kept: string, when: string): Promise<Undone[]> {
    const looked = lookAgain(patterns, taken.roots);
    const known = new Set([
      ...taken.files.map(({ real }) => real),
      ...(taken.closed ?? looked.closed.keys()),
    ]);
    // A folder elsewhere is not the run's own: others may write there, too.
    const isAdded = ({ real }: Seen): boolean => !known.has(real) && isWithin(real, workspace);
    const added = [...looked.files.values()].filter(isAdded);
    const ignored = await ignoredBefore(added, patterns, workspace, rules);
    const changed = taken.files.flatMap((file) => {
      const now = looked.files.get(file.real);
      if (now !== undefined && unchanged.isUnchanged(file.real)) return [];
      const how = differenceOf(file, now, folder);
      if (how === undefined) unchanged.remember(file.real);
      if (how === undefined) return [];
      return [{ file, how, kept: how === "deleted" ? undefined : keptOf(file, kept) }];
    });
    const unwanted = added.filter(({ real }) => !ignored.has(real));
    const appeared = [...looked.closed.values()].filter(isAdded);
    const removed = takeAwayAll([...unwanted, ...appeared], new Set(taken.folders), kept);
    const left = dropAll(looked.compiled.filter(({ real }) => !known.has(real)));
    return [...putBackAll(changed, folder, when), ...removed, ...left];
  }
}
