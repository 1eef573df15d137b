import type { Function as FunctionNode, Script } from "unbash";
import { type Call, type Stream, UNKNOWN } from "../call.js";
import type { Judged } from "../finding.js";
import type { Place } from "../place.js";

/** What is known at a point of the command. */
export interface Scope {
  place: Place;
  /** May hold UNKNOWN. */
  cwd: string;
  variables: Map<string, string>;
  /** Which variables of the outside went into those that the command has set. */
  origins: Map<string, string[]>;
  functions: Map<string, FunctionNode["body"]>;
  /** `$1`, `$2`, …; undefined in a function that was not called. */
  positional: string[] | undefined;
  /** What the command itself has put into files. */
  files: Map<string, Stream>;
  depth: number;
  session: Session;
}

/** What all parts of a command share. */
export interface Session {
  report(judged: Judged, words: string[]): void;
  /** Runs what stands in `$( )` or `<( )`; given here, because words and statements need each other. */
  substitute(script: Script, scope: Scope, input?: Stream): Stream;
  judge(call: Call): Stream;
  /** Steps that are left, and the time until which they may be taken, before the command is too much to follow. */
  steps: { left: number; until: number };
}

/** false: it was one too many. */
export function takeStep({ steps }: Session): boolean {
  steps.left = Date.now() > steps.until ? -1 : steps.left - 1;
  return steps.left >= 0;
}

export function createScope(place: Place, session: Session): Scope {
  return {
    place,
    cwd: place.cwd,
    variables: new Map([
      ["HOME", place.home],
      ["PWD", place.cwd],
      ["RALPH_HOME", place.ralphHome],
      ["IFS", " \t\n"],
      ["SHELL", "/bin/sh"],
      ["BASH", "/bin/bash"],
      ["TMPDIR", "/tmp"],
      ["0", "bash"],
      ["PATH", UNKNOWN],
    ]),
    origins: new Map(),
    functions: new Map(),
    positional: [],
    files: new Map(),
    depth: 0,
    session,
  };
}

/** A shell below: what it changes is not seen outside, except files. */
export function innerScope(scope: Scope, more: Partial<Scope> = {}): Scope {
  return {
    ...scope,
    variables: new Map(scope.variables),
    origins: new Map(scope.origins),
    functions: new Map(scope.functions),
    depth: scope.depth + 1,
    ...more,
  };
}
