import { describeSystemError } from "../../errors.js";
import type { Recommitted } from "./committed.js";
import type { Seen } from "./look.js";
import { keepAside, putBack, remove, takeAway } from "./put-back.js";
import { type Difference, differenceOf, type Kept } from "./snapshot.js";

/** A protected file that was changed, and is again what it was unless that failed. */
export interface Undone {
  file: string;
  what: string;
  /** Copy of what an agent had made of it. */
  kept?: string;
  /** It was not there before. */
  isNew?: true;
  /** Why it is not what it was. */
  failed?: string;
}

interface Changed {
  file: Kept;
  how: Difference;
  kept: string | undefined;
}

/** Moves what an agent made of a file into the records; undefined where that is not possible. */
export function keptOf(file: Seen, records: string): string | undefined {
  return tried(() => keepAside(file, records)).value;
}

/** `when`: in words, where it was not while an agent worked. */
export function putBackAll(changed: Changed[], folder: string, when: string): Undone[] {
  return changed.map(({ file, how, kept }) => {
    const { failure } = tried(() => {
      putBack(file, folder);
      if (differenceOf(file, file, folder) !== undefined) throw new Error("it was changed again");
    });
    const end = failure === undefined ? "was put back" : `could not be put back (${failure})`;
    return told(file.shown, `is protected, and ${HOW[how]}${when}: it ${end}`, { kept, failed: failure });
  });
}

const HOW: Record<Difference, string> = {
  changed: "was changed",
  deleted: "was deleted",
  mode: "its mode was changed",
};

/** What cannot be kept in the records stays where it is. */
export function takeAwayAll(added: Seen[], folders: Set<string>, records: string): Undone[] {
  return added.map((file) => {
    const aside = tried(() => keepAside(file, records));
    const { failure } = aside.failure === undefined ? tried(() => takeAway(file, folders)) : aside;
    const end = failure === undefined ? "was taken away" : `could not be taken away (${failure})`;
    const words = `is new among the protected files: it ${end}`;
    return { ...told(file.shown, words, { kept: aside.value, failed: failure }), isNew: true };
  });
}

/** Drops bytecode, which is made anew where it is needed. Returns what could not be dropped. */
export function dropAll(compiled: Seen[]): Undone[] {
  return compiled.flatMap(({ real, shown }) => {
    const { failure } = tried(() => remove(real));
    if (failure === undefined) return [];
    const words = `is bytecode beside protected files: it could not be taken away (${failure})`;
    return [told(shown, words, { failed: failure })];
  });
}

/** What was undone on the disk, with what was wrong in a commit. */
export function withCommitted(undone: Undone[], committed: Recommitted[]): Undone[] {
  const inGit = new Map(committed.map((one) => [one.file, one]));
  const known = new Set(undone.map(({ file }) => file));
  const onDisk = undone.map((one) => {
    const found = inGit.get(one.file);
    if (found === undefined) return one;
    const failed = one.failed ?? found.failed;
    const end =
      found.failed === undefined ? "also in HEAD" : `but a commit holds another version (${found.failed})`;
    return { ...one, what: `${one.what}, ${end}`, ...(failed !== undefined && { failed }) };
  });
  const others = committed.filter(({ file }) => !known.has(file));
  const ofHead = others.map((one) => {
    const end = one.failed === undefined ? "was put back" : `could not be put back (${one.failed})`;
    return told(one.file, `is protected, and was changed in a commit: it ${end}`, one);
  });
  return [...onDisk, ...ofHead];
}

/** A file that fails must not keep the others from being put back. */
function tried<Value>(action: () => Value): { value?: Value; failure?: string } {
  try {
    return { value: action() };
  } catch (error) {
    return { failure: describeSystemError(error as Error) };
  }
}

function told(
  file: string,
  words: string,
  more: { kept?: string | undefined; failed?: string | undefined },
): Undone {
  const { kept, failed } = more;
  // Whoever names a file must not write lines of the next prompt.
  const name = file.replace(/\p{Cc}/gu, "?");
  return {
    file,
    what: `${name} ${words}`,
    ...(kept !== undefined && { kept }),
    ...(failed !== undefined && { failed }),
  };
}
