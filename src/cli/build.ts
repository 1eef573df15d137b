import { Argument, type Command, Option } from "commander";
import { attributeOf, longName } from "../settings/limits.js";
import type { Flag } from "./flags.js";

export interface CommandRow {
  words: string;
  /** One line for the list of commands. */
  about: string;
  /** What each argument means, or its possible values. */
  args?: Record<string, string | string[]>;
  flags?: Flag[];
  /** The text below the flags, then examples. */
  help?: [text: string, ...examples: string[]];
  /** Gets arguments, the flags that the user gave and commander's command; returns the exit code. */
  run?: (...given: Parameters<Parameters<Command["action"]>[0]>) => Promise<number> | number;
  commands?: CommandRow[];
  isHidden?: true;
  /** Runs if no command of its family is given. */
  isDefault?: boolean;
  /** Accepts words that begin with -. */
  takesAnything?: true;
  /** The first argument ends the flags of this command. */
  passesThrough?: true;
}

export function row(words: string, about: string, more: Omit<CommandRow, "words" | "about">): CommandRow {
  return { words, about, ...more };
}

export function addCommand(parent: Command, row: CommandRow, exitWith: (code: number) => void): void {
  const { words, args = {}, run } = row;
  const [name = "", ...operands] = words.split(" ");
  const { about, isHidden: hidden = false, isDefault = false } = row;
  const command = parent.command(name, { hidden, isDefault }).description(about);
  command.helpOption(hidden ? false : "-h, --help", "show help");
  // For `[loop] <text>`, a single argument is the text.
  const isText = operands.join(" ") === "[loop] <text>";
  if (isText) command.usage("[options] [loop] <text>");
  for (const operand of isText ? ["[loop]", "[text]"] : operands)
    command.addArgument(argumentOf(operand, args[operand.replace(/[^\w-]/g, "")]));
  for (const one of row.flags ?? []) command.addOption(optionOf(one));
  if (row.help !== undefined) addHelp(command, ...row.help);
  if (row.takesAnything) command.allowUnknownOption();
  if (row.passesThrough) command.passThroughOptions();
  for (const inner of row.commands ?? []) addCommand(command, inner, exitWith);
  if (row.commands !== undefined) command.helpCommand(false);
  if (run !== undefined)
    command.action(async (...given) => {
      const words = given.slice(0, -2);
      const all = Object.entries(command.opts());
      const flags = all.filter(([name]) => command.getOptionValueSource(name) === "cli");
      exitWith(await run(...(isText ? withText(command, words) : words), Object.fromEntries(flags), command));
    });
}

function withText(command: Command, [loop, text = loop]: string[]): (string | undefined)[] {
  if (text === undefined)
    command.error("error: missing required argument 'text'", { code: "commander.missingArgument" });
  return [command.args.length < 2 ? undefined : loop, text];
}

/** Completes the values without enforcing them: the command explains mistakes better. */
function argumentOf(operand: string, about: string | string[] = ""): Argument {
  if (typeof about === "string") return new Argument(operand, about);
  return new Argument(operand).choices(about).argParser(String);
}

/** Wraps the text; indented lines stay lines. Examples stay whole, so that they can be copied. */
export function addHelp(command: Command, text: string, ...examples: string[]): void {
  command.addHelpText("after", () => {
    const flowing = text.replace(/(?<!^ .*)\n(?! )/gm, " ");
    const wrapped = command.createHelp().boxWrap(flowing, process.stdout.columns || COLUMNS);
    return `\n${wrapped}\n\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}\n`;
  });
}

/** Commander's own width where there is no terminal. */
const COLUMNS = 80;

function optionOf({ flags, help, group, isHidden, isRepeatable, choices, sameAs }: Flag): Option {
  const option = new Option(flags, help);
  // It sets the value of the flag that it replaces, so that nobody can give both.
  if (sameAs !== undefined) option.attributeName = () => attributeOf(longName(sameAs));
  if (isHidden) option.hideHelp();
  if (group !== undefined) option.helpGroup(group);
  if (choices !== undefined) option.choices(choices);
  return isRepeatable ? option.argParser(collect) : option;
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
