import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse, type Word } from "unbash";
import { PACKAGE_FOLDER } from "../package-folder.cjs";
import { isUnknown } from "./text.js";

/** One line of the file, as words. A last word `...` allows any further words. */
type Exception = string[];

interface AllowedCommands {
  exceptions: Exception[];
  /** Lines that the guard ignores, and why; line 0 is the file itself. */
  ignored: { line: number; text: string; why: string }[];
}

export const ALLOWED_FILE = "ralph/allowed-commands.txt";

export function readAllowedCommands(workspace: string): AllowedCommands {
  const file = `${workspace}/${ALLOWED_FILE}`;
  // Most projects have no such file, and catching an error takes longer than this test.
  if (!existsSync(file)) return { exceptions: [], ignored: [] };
  try {
    if (!statSync(file).isFile()) throw new Error("it is no file");
    return parseAllowedCommands(readFileSync(file, "utf8"));
  } catch (error) {
    const why = `it cannot be read: ${error instanceof Error ? error.message : error}`;
    return { exceptions: [], ignored: [{ line: 0, text: ALLOWED_FILE, why }] };
  }
}

export function parseAllowedCommands(text: string): AllowedCommands {
  const exceptions: Exception[] = [];
  const ignored: AllowedCommands["ignored"] = [];
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const words = wordsOf(line);
    if (Array.isArray(words)) exceptions.push(words);
    else ignored.push({ line: index + 1, text: line, why: words.why });
  }
  return { exceptions, ignored };
}

/** An exception is one simple command in plain words, so that nothing can hide in it. */
function wordsOf(line: string): string[] | { why: string } {
  const script = parse(line);
  const command = script.commands[0]?.command;
  if (script.errors !== undefined && script.errors.length > 0) return { why: "it cannot be parsed" };
  if (script.commands.length !== 1 || command?.type !== "Command")
    return { why: "it is more than one command" };
  if (command.prefix.length > 0 || command.redirects.length > 0)
    return { why: "variables and redirections cannot be allowed" };
  const words = [command.name, ...command.args].filter((word) => word?.type === "Word");
  if (words.some(isExpanded)) return { why: "it holds an expansion" };
  const texts = words.map(({ value }) => value);
  return /[*?]|^\.\.\.$/.test(texts[0] ?? "*") ? { why: "it does not name a program" } : texts;
}

function isExpanded({ parts = [] }: Word): boolean {
  return parts.some(({ type }) => !/^(Literal|Glob|SingleQuoted|DoubleQuoted)$/.test(type));
}

/** Whether one simple command, word by word, is on the list. `*` in a word matches anything in that word. */
export function isAllowed(words: string[], { exceptions }: AllowedCommands): boolean {
  return (
    words.length > 0 && !words.some(isUnknown) && exceptions.some((exception) => isLike(words, exception))
  );
}

function isLike(words: string[], exception: Exception): boolean {
  const isOpen = exception.at(-1) === "...";
  const wanted = isOpen ? exception.slice(0, -1) : exception;
  if (isOpen ? words.length < wanted.length : words.length !== wanted.length) return false;
  return wanted.every((pattern, index) => fitsWord(words[index] ?? "", pattern));
}

function fitsWord(word: string, pattern: string): boolean {
  if (!pattern.includes("*")) return word === pattern;
  const source = pattern
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^\\s;&|<>$`]*");
  return new RegExp(`^${source}$`).test(word);
}

/** Where a command would run. */
export interface Site {
  cwd: string;
  home: string;
  /** The project: the nearest folder above with `.git`, else `cwd`. */
  workspace: string;
  ralphHome: string;
  /** Where ralph itself is installed. */
  ralphItself: string;
  allowed: AllowedCommands;
}

export function siteAt(folder: string, homes: Pick<Site, "home" | "ralphHome">): Site {
  const cwd = resolve(folder);
  const workspace = projectOf(cwd, homes.home);
  return { cwd, ...homes, workspace, ralphItself: PACKAGE_FOLDER, allowed: readAllowedCommands(workspace) };
}

function projectOf(cwd: string, home: string): string {
  for (let folder = cwd; folder !== dirname(folder) && folder !== home; folder = dirname(folder)) {
    if (existsSync(`${folder}/.git`)) return folder;
  }
  return cwd;
}
