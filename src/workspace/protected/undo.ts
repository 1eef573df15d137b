import { describeSystemError } from "../../errors.js";
import type { Seen } from "./look.js";
import { keepAside, putBack, takeAway } from "./put-back.js";
import type { Difference, Kept } from "./snapshot.js";

/** A protected file that was changed, and is again what it was. */
export interface Undone {
  file: string;
  what: string;
  /** Copy of what an agent had made of it. */
  kept?: string;
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

export function putBackAll(changed: Changed[], folder: string): Undone[] {
  return changed.map(({ file, how, kept }) => {
    const { failure } = tried(() => putBack(file, folder));
    const end = failure === undefined ? "was put back" : `could not be put back (${failure})`;
    return told(file.shown, `is protected, and ${HOW[how]}: it ${end}`, kept);
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
    return told(file.shown, `is new among the protected files: it ${end}`, aside.value);
  });
}

/** A file that fails must not keep the others from being put back. */
function tried<Value>(action: () => Value): { value?: Value; failure?: string } {
  try {
    return { value: action() };
  } catch (error) {
    return { failure: describeSystemError(error as Error) };
  }
}

function told(file: string, words: string, kept: string | undefined): Undone {
  // Whoever names a file must not write lines of the next prompt.
  const name = file.replace(/\p{Cc}/gu, "?");
  return { file, what: `${name} ${words}`, ...(kept !== undefined && { kept }) };
}
