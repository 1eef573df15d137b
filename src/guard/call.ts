import type { Function as FunctionNode, SyntaxNode } from "unbash";
import type { Site } from "./allowed-commands.js";
import type { Risk } from "./finding.js";
import { ALIASES, VALUED } from "./programs.js";
import { rowsIn, UNKNOWN } from "./text.js";

/** What a command prints or reads, as far as the guard can know it. */
export interface Stream {
  text: string | undefined;
  /** The programs that produced it. */
  from: string[];
}

export interface Variable {
  name: string;
  value: string;
}

/** One simple command, after expansion. */
export interface Call {
  /** Name of the program without its folder, as the tables have it. */
  program: string;
  args: string[];
  /** Arguments that are neither options nor values of options. */
  plain: string[];
  words: string[];
  assignments: Variable[];
  redirections: { operator: string; target: string }[];
  /** Its stdin; undefined: none. */
  input: Stream | undefined;
  /** Programs that read its output. */
  readers: string[];
  /** Outer variables whose values are in its words. */
  variables: string[];
  /** Programs whose output is in its words, through `$( )`. */
  substituted: string[];
  scope: Scope;
}

/** What the guard knows at a point of the command. */
export interface Scope {
  site: Site;
  /** May contain UNKNOWN. */
  cwd: string;
  variables: Map<string, string>;
  functions: Map<string, FunctionNode["body"]>;
  /** `$1`, `$2`, …; undefined in a function without a call. */
  positional: string[] | undefined;
  /** What the command itself has written to files. */
  files: Map<string, Stream>;
  depth: number;
  session: Session;
}

/** What all parts of a command share. */
export interface Session {
  report(issue: Risk, words: string[]): void;
  /** Follows a part of the command; a field, because words and statements need each other. */
  run(node: SyntaxNode, scope: Scope, input?: Stream): Stream;
  judge(call: Call): Stream;
  /** Steps left, and the time by which to take them, before the guard refuses the command as too complex. */
  steps: { left: number; until: number };
}

/** Where a path is used. */
export type Where = Pick<Scope, "cwd" | "site">;

/** A call with the given words; `about` has the other facts. */
export function callOf(words: string[], about: Omit<Call, "program" | "args" | "plain" | "words">): Call {
  const program = programOf(words[0] ?? "");
  const args = words.slice(1);
  return { ...about, program, args, words, plain: plainArgs(args, valuedOf(program)) };
}

/** Options of a program whose value is a word of its own. */
export function valuedOf(program: string): string[] {
  return rowsIn(VALUED, program)[0] ?? [];
}

/** Counts a step; false: no step was left. */
export function takeStep({ steps }: Session): boolean {
  steps.left = Date.now() > steps.until ? -1 : steps.left - 1;
  return steps.left >= 0;
}

/** A subshell: its changes, except to files, are invisible outside. */
export function innerScope(scope: Scope, more: Partial<Scope> = {}): Scope {
  return {
    ...scope,
    variables: new Map(scope.variables),
    functions: new Map(scope.functions),
    depth: scope.depth + 1,
    ...more,
  };
}

/** `/usr/bin/python3.12` is `python`; names that mean the same program become one. */
export function programOf(word: string): string {
  const name = word.slice(word.lastIndexOf("/") + 1);
  if (name.length > 64) return name;
  const bare = name.replace(/^(python|pypy|pip|perl|php|ruby|lua|node)[\d.]+$|^(mkfs|newfs)[._]\w+$/, "$1$2");
  return rowsIn(ALIASES, bare)[0]?.[0] ?? bare;
}

/** Whether one of the flags is given: a letter alone or in a group (`-rf`), a long flag also with a value. */
export function hasFlag(args: string[], ...flags: string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).some((arg) => {
    if (arg.length < 2 || !arg.startsWith("-")) return false;
    const letters = arg.startsWith("--") ? "" : arg;
    return flags.some((flag) =>
      flag.length === 2 ? letters.includes(flag.slice(1)) : arg === flag || arg.startsWith(`${flag}=`),
    );
  });
}

/** Values of the flags: `-o x`, `-ox`, `--output x`, `--output=x`. */
export function valuesOf(args: string[], ...flags: string[]): string[] {
  return args.flatMap((arg, index) =>
    flags.flatMap((flag) => {
      if (arg === flag) return [args[index + 1] ?? ""];
      if (arg.startsWith(`${flag}=`)) return [arg.slice(flag.length + 1)];
      const isJoined = flag.length === 2 && arg.length > 2 && arg.startsWith(flag) && flag !== "--";
      return isJoined && !arg.startsWith("--") ? [arg.slice(2)] : [];
    }),
  );
}

/** The arguments without options; `valued` options take the next word as their value. */
export function plainArgs(args: string[], valued: string[] = []): string[] {
  const end = args.indexOf("--");
  const front = end === -1 ? args : args.slice(0, end);
  const plain = front.filter(
    (arg, index) => (!arg.startsWith("-") || arg === "-") && !valued.includes(front[index - 1] ?? ""),
  );
  return end === -1 ? plain : [...plain, ...args.slice(end + 1)];
}

/** The words from the first non-option on. */
export function afterOptions(args: string[], valued: string[] = []): string[] {
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--") return args.slice(index + 1);
    if (valued.includes(arg)) index += 1;
    else if (!arg.startsWith("-") || arg === "-") return args.slice(index);
  }
  return [];
}

/** The words of the form `name=value`. */
export function variablesIn(words: string[]): Variable[] {
  return words.flatMap((word) => {
    const [, name, value = ""] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    return name === undefined ? [] : [{ name, value }];
  });
}

/** The words as a person reads them. */
export function shown(words: string[]): string {
  const text = words.join(" ").replaceAll(UNKNOWN, "…").replace(/\s+/g, " ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
