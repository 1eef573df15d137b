import type { Argument, Command, Option } from "commander";
import { attachedValue, isFlag, type Place, placeAfter } from "./place.js";
import { type Candidate, isDirective, type Sources, valuesOf } from "./values.js";

/** What the last of the words may become. Commands and flags are those of the program itself. */
export async function candidates(program: Command, words: string[], sources: Sources): Promise<Candidate[]> {
  const word = words.at(-1) ?? "";
  const offered = await offers(placeAfter(program, words.slice(0, -1)), word, sources);
  return offered.filter(({ value }) => isDirective(value) || value.startsWith(word));
}

async function offers(place: Place, word: string, sources: Sources): Promise<Candidate[]> {
  if (place.isUnknown) return [];
  if (place.waiting?.mustHave) return valuesOf(place.waiting.option, "", sources);
  if (word.startsWith("-")) return flagsOrTheirValue(place, word, sources);
  if (place.waiting !== undefined) return valuesOf(place.waiting.option, "", sources);
  return operands(place, word, sources);
}

async function flagsOrTheirValue(place: Place, word: string, sources: Sources): Promise<Candidate[]> {
  const attached = isFlag(word) ? attachedValue(place.command, word) : undefined;
  return attached === undefined ? flags(place, word) : valuesOf(attached.option, attached.prefix, sources);
}

/** By their long names; a short one that is there already can be finished. */
function flags({ command, given }: Place, word: string): Candidate[] {
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
function isRepeatable(option: Option): boolean {
  return option.variadic || (option.parseArg !== undefined && option.argChoices === undefined);
}

async function operands(place: Place, word: string, sources: Sources): Promise<Candidate[]> {
  const argument = argumentAt(place);
  const values = argument === undefined ? [] : await valuesOf(argument, "", sources);
  const found = [...commands(place), ...values];
  const isFree = found.length === 0 && word === "" && argument?.required !== true;
  return isFree ? flags(place, word) : found;
}

function commands({ command, operands }: Place): Candidate[] {
  return operands > 0 ? [] : commandsOf(command);
}

/** Those that the help shows. */
export function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ value: one.name(), description: one.description() }));
}

function argumentAt({ command, operands }: Place): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return command.registeredArguments[operands] ?? (last?.variadic ? last : undefined);
}
