import type { Scope } from "./shell/scope.js";

/** Stands for what cannot be known before the command runs. */
export const UNKNOWN = "\uE0FF";

/** What a command prints or reads, as far as it can be known. */
export interface Stream {
  text: string | undefined;
  /** The programs that it comes from. */
  from: string[];
  /** The program that a file is a copy of. */
  program?: string;
}

export interface Redirection {
  operator: string;
  target: string;
}

export interface Assigned {
  name: string;
  value: string;
}

/** One simple command, after expansion. */
export interface Call {
  /** Name of the program, without its folder. */
  program: string;
  args: string[];
  words: string[];
  assignments: Assigned[];
  redirections: Redirection[];
  /** What it reads; undefined: nothing is given to it. */
  input: Stream | undefined;
  /** Programs that read what it prints. */
  readers: string[];
  /** Variables whose values stand in its words. */
  variables: string[];
  /** Programs whose output stands in its words, by `$( )`. */
  substituted: string[];
  scope: Scope;
}

export function isUnknown(text: string): boolean {
  return text.includes(UNKNOWN);
}

export function programOf(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

/** Its words as a person would read them. */
export function shown(words: string[]): string {
  const text = words.join(" ").replaceAll(UNKNOWN, "…").replace(/\s+/g, " ");
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS - 1)}…` : text;
}

const SHOWN_CHARS = 80;
