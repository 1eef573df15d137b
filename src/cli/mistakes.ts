import type { Command, CommanderError, Option } from "commander";
import { RalphError } from "../errors.js";
import { quoteWord } from "../words.js";
import { collect } from "./build.js";
import { LOOP_COMMANDS } from "./recipes.js";

/** What people get wrong on any command line, and what to write instead. */

/** A flag with one value is given once, under one name, and the name of a file is not empty. */
export function refuseRepeats(command: Command): void {
  const givenAs = new Map<string, Option>();
  for (const option of command.options) {
    const { parseArg } = option;
    if (option.isBoolean() || option.negate || parseArg === collect) continue;
    option.argParser((value: string, before: unknown) => {
      const first = givenAs.get(option.attributeName()) ?? option;
      givenAs.set(option.attributeName(), option);
      if (typeof before === "string") throw givenTwice(first, option, [before, value]);
      if (/<(?:file|dir)>$/.test(option.flags) && value.trim() === "") throw noFile(option);
      return parseArg === undefined ? value : parseArg(value, before);
    });
  }
  for (const each of command.commands) refuseRepeats(each);
}

function givenTwice(first: Option, second: Option, values: string[]): RalphError {
  const [one, other] = [first, second].map(({ flags }) => flags.replace(/ [<[].*/, ""));
  const what =
    one === other ? `${one} was given twice` : `${one} and ${other} are the same, and both were given`;
  return new RalphError(`${what}: ${values.map((value) => JSON.stringify(value)).join(" and ")}`, {
    code: "flag_repeated",
    hint: one === other ? `give ${first.long} once` : `give one of them`,
  });
}

function noFile({ flags }: Option): RalphError {
  const what = /<dir>$/.test(flags) ? "folder" : "file";
  return new RalphError(`${flags.replace(/ <.*/, "")} "": expected the name of a ${what}`, {
    code: "flag_invalid",
  });
}

/** `ralph -p TEXT`: flags stand behind their command. */
export function refuseWithoutCommand(program: Command, [flag = "", ...rest]: string[]): void {
  const name = flag.replace(/=.*/s, "");
  const has = (to: Command): boolean => to.options.some(({ short, long }) => [short, long].includes(name));
  if (!flag.startsWith("-") || has(program)) return;
  const run = program.commands.find((known) => known.name() === "run" && has(known));
  const found = run ?? program.commands.find(has);
  if (found === undefined) return;
  throw new RalphError(`a command is missing before ${flag}`, {
    code: "command_missing",
    hint: `did you mean: ralph ${[found.name(), flag, ...rest].map(quoteWord).join(" ")}`,
  });
}

/** Flags whose value may be left out. */
const MAY_STAND_ALONE = ["--worktree", "--sandbox"];

/** `spawn --worktree loop …`, `spawn --sandbox loop …`: a value that may be left out would take the loop. */
export function withoutSwallowing(words: string[]): string[] {
  if (words[2] !== "spawn") return words;
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const isLoop = (word = ""): boolean => LOOP_COMMANDS.some(([first]) => first === word);
  return words.map((word, at) =>
    MAY_STAND_ALONE.includes(word) && at < end && isLoop(words[at + 1]) ? `${word}=` : word,
  );
}

/** What to write in place of what commander refuses. */
export function whatToDo(program: Command, { code, message }: CommanderError): string {
  const what = message.replace(/^error: /, "");
  if (code === "commander.missingArgument") return withSwallowed(what);
  if (code !== "commander.unknownOption" || /did you mean/i.test(what)) return what;
  // A word that begins with - and is no flag may be the text that a command wants.
  const words = commandIn(program, process.argv.slice(2));
  const [, text = ""] = /'(.*)'/s.exec(what) ?? [];
  if (words === undefined) return what;
  return `${what} (a text that begins with - stands behind --, after the flags: ralph ${words} … -- ${quoteWord(text)})`;
}

/** `pipeline run --worktree SPEC`: a value that may be left out has taken it. */
function withSwallowed(what: string): string {
  const at = process.argv.findIndex((word) => MAY_STAND_ALONE.includes(word));
  const [flag, value = "-"] = at === -1 ? [] : process.argv.slice(at);
  if (value.startsWith("-")) return what;
  return `${what} (${flag} took ${JSON.stringify(value)} for its own value; put it before ${flag})`;
}

/** Arguments that can be any text. */
const TEXTS = new Set(["task", "text", "command"]);

/** The words of the command, where that takes a text. */
function commandIn(parent: Command, [first, ...rest]: string[]): string | undefined {
  const found = parent.commands.find((known) => known.name() === first);
  if (found === undefined) return undefined;
  const inner = commandIn(found, rest);
  if (inner !== undefined) return `${first} ${inner}`;
  return found.registeredArguments.some((argument) => TEXTS.has(argument.name())) ? first : undefined;
}
