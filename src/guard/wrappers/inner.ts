import type { Assigned, Call, Stream } from "../call.js";

/** What a command runs in turn: words, or a script. */
export interface Inner {
  words?: string[];
  assignments?: Assigned[];
  script?: string;
  /** `$0` and `$1`, `$2`, … of a script. */
  name?: string;
  positional?: string[];
  /** It runs in the same shell: what it changes is seen afterwards. */
  same?: boolean;
  /** Perhaps it is no command at all: what cannot be understood in it is no reason. */
  tentative?: boolean;
  input?: Stream;
  cwd?: string;
}

export type LookThrough = (call: Call) => Inner[];

export function wordsOf(words: string[]): Inner[] {
  return words.length === 0 ? [] : [{ words }];
}

export function scriptsOf(...scripts: (string | undefined)[]): Inner[] {
  return scripts
    .filter((script) => script !== undefined && script.trim() !== "")
    .map((script) => ({ script: script ?? "" }));
}
