import type { Argument, Command, Option } from "commander";
import type { Candidate, Sources } from "../commands/completion.js";

/** The position of a word in the command line: the words before it, parsed as commander does. */
interface Position {
  command: Command;
  /** Flags that it was given, by the name of their value. */
  given: string[];
  operands: number;
  /** The flag before it takes a value. */
  waiting?: Option | undefined;
  /** After `--` or an unknown command: ralph knows nothing there. */
  isUnknown?: boolean;
}

/** Completes the last word, from the commands and flags of the program. A command is one of ralph after `help` alone. */
export async function candidates(program: Command, words: string[], sources: Sources): Promise<Candidate[]> {
  const word = words.at(-1) ?? "";
  const start: Position = { command: program, given: [], operands: 0 };
  const known = words[0] === "help" ? { command: async () => commandsOf(program), ...sources } : sources;
  const offered = await offers(words.slice(0, -1).reduce(next, start), word, known);
  return offered.filter(({ value }) => value.startsWith(":") || value.startsWith(word));
}

async function offers(position: Position, word: string, sources: Sources): Promise<Candidate[]> {
  const { command, waiting, isUnknown } = position;
  if (isUnknown) return [];
  if (waiting?.required || (waiting && !word.startsWith("-"))) return valuesOf(waiting, "", sources, word);
  if (word.startsWith("-")) {
    // `--flag=value` or `-fvalue`: the flag, and the text before the value.
    const [prefix = ""] = /^--[^=]+=|^-[^-](?=.)/.exec(word) ?? [];
    const option = optionOf(command, prefix.replace(/=$/, ""));
    return option && takesValue(option)
      ? valuesOf(option, prefix, sources, word.slice(prefix.length))
      : flagsOf(position);
  }
  return argumentsOf(position, word, sources);
}

async function argumentsOf(position: Position, word: string, sources: Sources): Promise<Candidate[]> {
  const { command, operands } = position;
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[operands] ?? (last?.variadic ? last : undefined);
  const values = argument === undefined ? [] : await valuesOf(argument, "", sources, word);
  const found = [...(operands > 0 ? [] : commandsOf(command)), ...values];
  const isFree = found.length === 0 && word === "" && argument?.required !== true;
  return isFree ? flagsOf(position) : found;
}

function next(position: Position, word: string): Position {
  const { command, operands, waiting, given, isUnknown } = position;
  if (isUnknown) return position;
  const isFlag = word.length > 1 && word.startsWith("-");
  if (waiting !== undefined && (waiting.required || !isFlag)) return { ...position, waiting: undefined };
  if (word === "--") return { ...position, isUnknown: true };
  if (isFlag) {
    const option = optionOf(command, word.replace(/=.*/s, ""));
    if (option === undefined) return { ...position, waiting: undefined };
    const isWaiting = takesValue(option) && !word.includes("=");
    return {
      ...position,
      given: [...given, option.attributeName()],
      waiting: isWaiting ? option : undefined,
    };
  }
  const known = operands > 0 ? [] : command.commands;
  const called = known.find((one) => one.name() === word);
  if (called !== undefined) return { command: called, given: [], operands: 0 };
  const isLost = known.length > 0 && command.registeredArguments.length === 0;
  return { ...position, operands: operands + 1, isUnknown: isLost };
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find((option) => option.long === flag || option.short === flag);
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

/** By their long names. Commander keeps the last value, unless a parser collects them; choices bring one, too. */
function flagsOf({ command, given }: Position): Candidate[] {
  const isFree = (option: Option): boolean =>
    !given.includes(option.attributeName()) ||
    (option.parseArg !== undefined && option.argChoices === undefined);
  const shown = command.createHelp().visibleOptions(command).filter(isFree);
  return shown.map(({ long, description }) => ({ value: long ?? "", description }));
}

function commandsOf(command: Command): Candidate[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.map((one) => ({ value: one.name(), description: one.description() }));
}

const NAMES_ON_DISK: [directive: string, names: RegExp][] = [
  [":file", /(^|[-_ ])(file|path)s?$/i],
  [":dir", /(^|[-_ ])(dir|directory|folder)s?$/i],
];

/** The values of a flag or an argument, with the text before them in the same word. */
async function valuesOf(
  taker: Option | Argument,
  prefix: string,
  sources: Sources,
  word = "",
): Promise<Candidate[]> {
  // `file` and `config` for `--config <file>`.
  const names =
    "flags" in taker
      ? [/[<[]([^>\].]+)/.exec(taker.flags)?.[1] ?? "", taker.attributeName()]
      : [taker.name()];
  const onDisk = NAMES_ON_DISK.find(([, pattern]) => names.some((name) => pattern.test(name)));
  if (taker.argChoices === undefined && onDisk !== undefined)
    return [{ value: onDisk[0], description: prefix }];
  const source = sources[names.find((name) => Object.hasOwn(sources, name)) ?? ""];
  const found =
    taker.argChoices?.map((value) => ({ value, description: "" })) ?? (await source?.(word)) ?? [];
  return found.map(({ value, description }) => ({ value: prefix + value, description }));
}
