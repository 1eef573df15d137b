import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilePatterns } from "../../patterns.js";
import { ignoredFiles } from "./ignored.js";
import { lookAgain, lookFor } from "./look.js";
import { keepAside, putBack, takeAway } from "./put-back.js";
import { type Difference, differenceOf, readSnapshot, type Snapshot, takeSnapshot } from "./snapshot.js";
import { createUnchanged } from "./unchanged.js";

export interface ProtectionPlace {
  workspace: string;
  /** Folder of the run: what it holds is believed. */
  records: string;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
}

/** A protected file that was changed, and is again what it was. */
export interface Undone {
  file: string;
  what: string;
  /** Copy of what an agent had made of it. */
  kept?: string;
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
  const open = join(records, "protected.open");
  const meant = compilePatterns(patterns);
  let unchanged = createUnchanged();
  let snapshot: Snapshot | undefined;

  const take = async (): Promise<Snapshot> => {
    const looked = lookFor(meant, workspace);
    unchanged = createUnchanged();
    const ignored = await ignoredFiles(looked.files.values(), meant, workspace);
    for (const real of ignored) looked.files.delete(real);
    return takeSnapshot(looked, folder);
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
    const added = [...looked.files.values()].filter(({ real }) => !known.has(real));
    const ignored = await ignoredFiles(added, meant, workspace);
    const changed = taken.files.flatMap((file) => {
      const now = looked.files.get(file.real);
      if (now !== undefined && unchanged.isUnchanged(file.real)) return [];
      const how = differenceOf(file, now, folder);
      if (how === undefined) unchanged.remember(file.real);
      if (how === undefined) return [];
      return [{ file, how, aside: how === "deleted" ? undefined : keepAside(file, kept) }];
    });
    const folders = new Set(taken.folders);
    const removed = added
      .filter(({ real }) => !ignored.has(real))
      .map((file) => ({ file, aside: keepAside(file, kept) }));
    for (const { file } of removed) takeAway(file, folders);
    for (const { file } of changed) putBack(file, folder);
    return [
      ...changed.map(({ file, how, aside }) => told(file.shown, WORDS[how], aside)),
      ...removed.map(({ file, aside }) => told(file.shown, NEW, aside)),
    ];
  }
}

const WORDS: Record<Difference, string> = {
  changed: "is protected, and was changed: it was put back",
  deleted: "is protected, and was deleted: it was put back",
  mode: "is protected, and its mode was changed: it was put back",
};
const NEW = "is new among the protected files: it was taken away";

function told(file: string, words: string, kept: string | undefined): Undone {
  // Whoever names a file must not write lines of the next prompt.
  const name = file.replace(/\p{Cc}/gu, "?");
  return { file, what: `${name} ${words}`, ...(kept !== undefined && { kept }) };
}

/** Patterns that mean no file so far: most often a slip of the pen. */
export function withoutFiles(patterns: readonly string[], workspace: string): string[] {
  return patterns.filter((pattern) => lookFor(compilePatterns([pattern]), workspace).files.size === 0);
}
