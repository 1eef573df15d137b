import type { Argument, Command, Option } from "commander";
import type { Candidate, Sources } from "../commands/completion.js";

/** Where a word of the command line stands: what came before it, read as commander reads it. */
interface Position {
  command: Command;
  /** Flags that it was given, by the name of their value. */
  given: ReadonlySet<string>;
  /** How many arguments came before. */
  operands: number;
  /** The flag before it takes a value. */
  waiting?: Option | undefined;
  /** After `--`, or after a word that is no command: nothing there is known to ralph. */
  isUnknown?: boolean;
}

/** What the last of the words may become. Commands and flags are those of the program itself. */
export async function candidates(program: Command, words: string[], sources: Sources): Promise<Candidate[]> {
  const word = words.at(-1) ?? "";
  const start: Position = { command: program, given: new Set(), operands: 0 };
  const known = { command: async () => commandsOf(program), ...sources };
  const offered = await offers(words.slice(0, -1).reduce(next, start), word, known);
  return offered.filter(({ value }) => isDirective(value) || value.startsWith(word));
}

async function offers(position: Position, word: string, sources: Sources): Promise<Candidate[]> {
  const { command, operands, waiting, isUnknown } = position;
  if (isUnknown) return [];
  if (waiting?.required || (waiting && !word.startsWith("-"))) return valuesOf(waiting, "", sources);
  if (word.startsWith("-")) {
    const attached = attachedValue(command, word);
    return attached ? valuesOf(attached.option, attached.prefix, sources) : flags(position, word);
  }
  const argument = argumentAt(position);
  const values = argument === undefined ? [] : await valuesOf(argument, "", sources);
  const found = [...(operands > 0 ? [] : commandsOf(command)), ...values];
  const isFree = found.length === 0 && word === "" && argument?.required !== true;
  return isFree ? flags(position, word) : found;
}

function next(position: Position, word: string): Position {
  const { command, operands, waiting } = position;
  if (position.isUnknown) return position;
  const isFlag = word.length > 1 && word.startsWith("-");
  if (waiting !== undefined && (waiting.required || !isFlag)) return { ...position, waiting: undefined };
  if (word === "--") return { ...position, isUnknown: true };
  if (isFlag) return afterFlag(position, word);
  const known = operands > 0 ? [] : command.commands;
  const called = known.find((one) => one.name() === word);
  if (called !== undefined) return { command: called, given: new Set(), operands: 0 };
  const isUnknown = known.length > 0 && command.registeredArguments.length === 0;
  return { ...position, operands: operands + 1, isUnknown };
}

function afterFlag(position: Position, word: string): Position {
  const { command, given } = position;
  const whole = optionOf(command, word);
  const option = whole ?? attachedValue(command, word)?.option ?? optionOf(command, word.slice(0, 2));
  const names = option === undefined ? given : new Set([...given, option.attributeName()]);
  return { ...position, given: names, waiting: whole && takesValue(whole) ? whole : undefined };
}

/** `--flag=value` or `-fvalue`: the flag, and what stands before the value. */
function attachedValue(command: Command, word: string): { option: Option; prefix: string } | undefined {
  const prefix = word.startsWith("--") ? /^--[^=]+=/.exec(word)?.[0] : /^-[^-](?=.)/.exec(word)?.[0];
  const option = prefix === undefined ? undefined : optionOf(command, prefix.replace(/=$/, ""));
  return prefix !== undefined && option !== undefined && takesValue(option) ? { option, prefix } : undefined;
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find((option) => option.long === flag || option.short === flag);
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

/** By their long names; a short one that is there already can be finished. */
function flags({ command, given }: Position, word: string): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => isRepeatable(option) || !given.has(option.attributeName()))
    .map((option) => ({
      value: (option.short === word ? word : (option.long ?? option.short)) ?? "",
      description: option.description,
    }));
}

/** Commander keeps the last value, unless a parser of ours collects them; choices bring a parser too. */
function isRepeatable({ parseArg, argChoices }: Option): boolean {
  return parseArg !== undefined && argChoices === undefined;
}

/** Those that the help shows. */
function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ value: one.name(), description: one.description() }));
}

function argumentAt({ command, operands }: Position): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return command.registeredArguments[operands] ?? (last?.variadic ? last : undefined);
}

/** What the shell completes itself. */
const NAMES_ON_DISK: [directive: string, names: RegExp][] = [
  [":file", /(^|[-_ ])(file|path)s?$/i],
  [":dir", /(^|[-_ ])(dir|directory|folder)s?$/i],
];

function isDirective(value: string): boolean {
  return NAMES_ON_DISK.some(([directive]) => directive === value);
}

/** The values that a flag or an argument takes, with what stands before them in the same word. */
async function valuesOf(taker: Option | Argument, prefix: string, sources: Sources): Promise<Candidate[]> {
  // `file` and `config` for `--config <file>`.
  const names =
    "flags" in taker
      ? [/[<[]([^>\].]+)/.exec(taker.flags)?.[1] ?? "", taker.attributeName()]
      : [taker.name()];
  const onDisk = NAMES_ON_DISK.find(([, pattern]) => names.some((name) => pattern.test(name)));
  if (taker.argChoices === undefined && onDisk !== undefined)
    return [{ value: onDisk[0], description: prefix }];
  const source = names.find((name) => Object.hasOwn(sources, name));
  const found = source === undefined ? [] : ((await sources[source]?.()) ?? []);
  const values =
    taker.argChoices?.map((value) => ({ value, description: "" })) ??
    found.filter(({ value }) => !isDirective(value));
  return values.map(({ value, description }) => ({ value: prefix + value, description }));
}
