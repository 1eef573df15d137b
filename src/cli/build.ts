import { Argument, type Command, Option } from "commander";
import { attributeOf, longName } from "../settings/limits.js";
import type { Flag } from "./flags.js";

/** What commander hands to an action: the arguments, the flags, and the command. */
type Given = Parameters<Parameters<Command["action"]>[0]>;

/** A command of ralph. */
export interface CommandRow {
  /** Its name and its arguments, as in `logs <worker>`. */
  words: string;
  /** One line for the list of commands. */
  about: string;
  /** What arguments are, or what they can be. */
  args?: Record<string, string | string[]>;
  flags?: Flag[];
  /** What stands below the flags, then examples. */
  help?: [text: string, ...examples: string[]];
  /** Loads what it needs when it is called, and returns the exit code. */
  run?: (...given: Given) => Promise<number> | number;
  /** Commands of its own. */
  commands?: CommandRow[];
  /** Whether it can be the loop of a worker as it stands. */
  isLoop?: true;
  isHidden?: true;
  /** Words that begin with - are not refused. */
  takesAnything?: true;
  /** The first argument ends the flags of this command. */
  passesThrough?: true;
}

export function row(words: string, about: string, more: Omit<CommandRow, "words" | "about">): CommandRow {
  return { words, about, ...more };
}

/** Adds the command of a row, and those below it. */
export function addCommand(parent: Command, row: CommandRow, exitWith: (code: number) => void): void {
  const { words, args = {}, run } = row;
  const [name = "", ...operands] = words.split(" ");
  const command = parent.command(name, { hidden: row.isHidden === true }).description(row.about);
  if (row.isHidden) command.helpOption(false);
  else command.helpOption("-h, --help", "show help");
  for (const operand of operands) {
    const about = args[operand.replace(/[^\w-]/g, "")] ?? "";
    command.addArgument(
      typeof about === "string"
        ? new Argument(operand, about)
        : new Argument(operand).choices(about).argParser(String),
    );
  }
  for (const one of row.flags ?? []) command.addOption(optionOf(one));
  if (row.help !== undefined) command.addHelpText("after", helpText(...row.help));
  if (row.takesAnything) command.allowUnknownOption();
  if (row.passesThrough) command.passThroughOptions();
  for (const inner of row.commands ?? []) addCommand(command, inner, exitWith);
  if (run === undefined) command.helpCommand(false);
  else command.action(async (...given) => exitWith(await run(...given)));
}

export function helpText(text: string, ...examples: string[]): string {
  return `\n${text}\n\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}\n`;
}

/** A flag under another name sets the value of the flag that it stands for, so that both cannot be given. */
class Alias extends Option {
  of = "";
  override attributeName(): string {
    return attributeOf(this.of);
  }
}

function optionOf({ flags, help, group, isHidden, isRepeatable, choices, sameAs }: Flag): Option {
  const option = sameAs === undefined ? new Option(flags, help) : new Alias(flags, help);
  if (option instanceof Alias) option.of = longName(sameAs ?? "");
  if (isHidden) option.hideHelp();
  if (group !== undefined) option.helpGroup(group);
  if (choices !== undefined) option.choices(choices);
  return isRepeatable ? option.argParser(collect) : option;
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** The flags that the user gave, without defaults. */
export function givenOnly(command: Command, flags: object): Record<string, unknown> {
  const given = Object.entries(flags).filter(([name]) => command.getOptionValueSource(name) === "cli");
  return Object.fromEntries(given);
}
