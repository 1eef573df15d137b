import type { Command, CommanderError, Option } from "commander";
import { RalphError } from "../errors.js";
import { quoteWord } from "../words.js";
import { collect } from "./build.js";
import { meaningOf, SYNONYMS } from "./meanings.js";
import { LOOP_COMMANDS } from "./recipes.js";

/** Refuses a flag that is given twice, also under another name or with its opposite, and an empty file name. */
export function refuseRepeats(command: Command): void {
  const given: FlagUse[] = [];
  for (const option of command.options) {
    if (option.parseArg === collect) continue;
    command.on(`option:${option.name()}`, (value: unknown) => {
      const before = given.find(([one]) => one.attributeName() === option.attributeName());
      if (before !== undefined) throw givenTwice(before, [option, value]);
      const others = given.map(([one]) => one.long ?? "");
      const other = others.find((one) =>
        CONTRADICTIONS.some((pair) => pair.has(one) && pair.has(option.long ?? "")),
      );
      if (other !== undefined)
        throw new RalphError(`${other} and ${option.long} contradict each other`, {
          code: "flag_contradiction",
          hint: "give one of them",
        });
      const [, kind] = /<(file|dir)>$/.exec(option.flags) ?? [];
      if (kind !== undefined && typeof value === "string" && value.trim() === "") {
        const what = `${namesOf(option)} "": expected the name of a ${kind === "dir" ? "folder" : "file"}`;
        throw new RalphError(what, { code: "flag_invalid" });
      }
      given.push([option, value]);
    });
  }
  for (const each of command.commands) refuseRepeats(each);
}

function namesOf({ flags }: Option): string {
  return flags.replace(/ [<[].*/, "");
}

type FlagUse = [option: Option, value: unknown];

function givenTwice([first, before]: FlagUse, [second, value]: FlagUse): RalphError {
  const [one, other] = [namesOf(first), namesOf(second)];
  const values = [before, value].filter((each) => typeof each === "string");
  const shown = values.length < 2 ? "" : `: ${values.map((each) => JSON.stringify(each)).join(" and ")}`;
  const [what, hint] =
    one === other
      ? [`${one} was given twice`, `give ${first.long ?? one} once`]
      : first.negate === second.negate && values.length === 2
        ? [`${one} and ${other} are the same, and both were given`, "give one of them"]
        : [`${one} and ${other} contradict each other`, "give one of them"];
  return new RalphError(`${what}${shown}`, { code: "flag_repeated", hint });
}

/** Flags that contradict each other, or make each other useless. */
const CONTRADICTIONS = [
  new Set(["--quiet", "--verbose"]),
  new Set(["--no-wait-for-limits", "--max-limit-wait"]),
  new Set(["--all", "--count"]),
];

/** `ralph -p TEXT`: flags come after their command. */
export function refuseWithoutCommand(program: Command, [flag = "", ...rest]: string[]): void {
  const name = flag.replace(/=.*/s, "");
  const has = (to: Command): boolean => to.options.some(({ short, long }) => [short, long].includes(name));
  if (!flag.startsWith("-") || has(program)) return;
  const able = program.commands.filter(has);
  const found = able.find((known) => known.name() === "run") ?? able[0];
  if (found === undefined) return;
  const hint = `did you mean: ralph ${[found.name(), flag, ...rest].map(quoteWord).join(" ")}`;
  throw new RalphError(`a command is missing before ${flag}`, { code: "command_missing", hint });
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

/** Arguments that can be any text. */
const TEXTS = ["task", "text", "command"];

/** The correction for a command line that commander refuses. */
export function whatToDo(program: Command, { code, message }: CommanderError): string {
  const what = message.replace(/^error: /, "");
  const [, , name, ...words] = process.argv;
  if (code === "commander.missingArgument") {
    // `pipeline run --worktree SPEC`: a value that may be left out has taken it.
    const [flag, value = "-"] = words.slice(words.findIndex((word) => MAY_STAND_ALONE.includes(word)));
    if (!MAY_STAND_ALONE.includes(flag ?? "") || value.startsWith("-")) return what;
    return `${what} (${flag} took ${JSON.stringify(value)} for its own value; put it before ${flag})`;
  }
  if (code === "commander.unknownCommand") return unknownCommand(program, what);
  if (code === "commander.excessArguments" && takesText(program, name))
    return `${what.replace(/\.$/, "")} (put a text of several words in quotes)`;
  if (code !== "commander.unknownOption" || /did you mean/i.test(what)) return what;
  // A word that begins with - and is no flag may be the text that a command wants.
  if (!takesText(program, name)) return what;
  const [, text = ""] = /'(.*)'/s.exec(what) ?? [];
  return `${what} (put a text that begins with - after --, behind the flags: ralph ${name} … -- ${quoteWord(text)})`;
}

function takesText(program: Command, name: string | undefined): boolean {
  const command = program.commands.find((known) => known.name() === name);
  return command?.registeredArguments.some((argument) => TEXTS.includes(argument.name())) ?? false;
}

/** The meaning of a word in other tools counts more than a similar name. */
function unknownCommand(program: Command, what: string): string {
  const [line = "", word = ""] = /^unknown command '(.*?)'/s.exec(what) ?? [];
  const path = commandsIn(program, process.argv.slice(2, process.argv.indexOf(word, 2)));
  const parent = path.at(-1);
  const known = parent?.commands.map((one) => one.name()) ?? [];
  const meaning = parent === undefined ? meaningOf(word) : undefined;
  if (meaning !== undefined) return `${line} (${meaning})`;
  const rows = Object.entries(SYNONYMS);
  const [meant] = rows.find(([name, words]) => known.includes(name) && words.includes(word)) ?? [];
  if (meant !== undefined)
    return `${line} (did you mean: ralph ${[...path.map((one) => one.name()), meant].join(" ")})`;
  return parent === undefined || what !== line ? what : `${line} (its commands are ${known.join(", ")})`;
}

/** The commands that the words name, the outer ones first. */
function commandsIn(program: Command, [word, ...rest]: string[]): Command[] {
  const inner = program.commands.find((one) => one.name() === word);
  return inner === undefined ? [] : [inner, ...commandsIn(inner, rest)];
}
