import type { Command, Option } from "commander";

/** Where a word of the command line stands: what came before it, read as commander reads it. */
export interface Place {
  command: Command;
  /** Flags that it was given, by the name of their value. */
  given: ReadonlySet<string>;
  /** How many arguments came before. */
  operands: number;
  /** The flag before it takes a value, and must have one or may. */
  waiting: { option: Option; mustHave: boolean } | undefined;
  /** After `--`, or after a word that is no command: nothing there is known to ralph. */
  isUnknown: boolean;
}

export function placeAfter(program: Command, words: string[]): Place {
  return words.reduce(next, beginningOf(program));
}

export function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith("-");
}

/** `--flag=value` or `-fvalue`: the flag, and what stands before the value. */
export function attachedValue(
  command: Command,
  word: string,
): { option: Option; prefix: string } | undefined {
  const prefix = word.startsWith("--") ? /^--[^=]+=/.exec(word)?.[0] : /^-[^-](?=.)/.exec(word)?.[0];
  const option = prefix === undefined ? undefined : optionOf(command, prefix.replace(/=$/, ""));
  return prefix !== undefined && option !== undefined && takesValue(option) ? { option, prefix } : undefined;
}

function beginningOf(command: Command): Place {
  return { command, given: new Set(), operands: 0, waiting: undefined, isUnknown: false };
}

function next(place: Place, word: string): Place {
  const { waiting } = place;
  if (place.isUnknown) return place;
  if (waiting?.mustHave) return { ...place, waiting: moreFor(waiting.option) };
  if (word === "--") return { ...place, isUnknown: true };
  if (isFlag(word)) return afterFlag({ ...place, waiting: undefined }, word);
  if (waiting !== undefined) return { ...place, waiting: moreFor(waiting.option) };
  return afterOperand(place, word);
}

/** Some flags take every word up to the next flag. */
function moreFor(option: Option): Place["waiting"] {
  return option.variadic ? { option, mustHave: false } : undefined;
}

function afterFlag(place: Place, word: string): Place {
  const whole = optionOf(place.command, word);
  if (whole !== undefined) {
    const waiting = takesValue(whole) ? { option: whole, mustHave: whole.required } : undefined;
    return { ...withGiven(place, whole), waiting };
  }
  const attached = attachedValue(place.command, word);
  if (attached !== undefined) return withGiven(place, attached.option);
  const first = word.length > 2 ? optionOf(place.command, word.slice(0, 2)) : undefined;
  return first === undefined ? place : afterFlag(withGiven(place, first), `-${word.slice(2)}`);
}

function withGiven(place: Place, option: Option): Place {
  return { ...place, given: new Set([...place.given, option.attributeName()]) };
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find((option) => option.long === flag || option.short === flag);
}

function afterOperand(place: Place, word: string): Place {
  const { command, operands } = place;
  const known = operands > 0 ? [] : command.commands;
  const called = known.find((one) => one.name() === word || one.aliases().includes(word));
  if (called !== undefined) return beginningOf(called);
  const isUnknown = known.length > 0 && command.registeredArguments.length === 0;
  return { ...place, operands: operands + 1, isUnknown };
}
