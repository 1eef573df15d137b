import type { Command, CommanderError, Option } from "commander";
import { RalphError } from "../errors.js";
import { quoteWord } from "../words.js";
import { collect } from "./build.js";
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

/** Words that other tools use for a command, and the command here. */
const MEANINGS: Record<string, string> = {
  "stop halt end quit exit suspend hold":
    "ralph pause lets the agent finish and then waits, ralph kill ends the run now",
  "abort cancel terminate": "ralph kill ends the run now, ralph pause lets the agent finish first",
  "continue proceed unpause restart retry rerun": "ralph resume continues a run",
  "history recent": "ralph runs lists the runs",
  list: "ralph ls lists what is running and the workers, ralph runs lists all runs",
  "ps top jobs workers": "ralph ls lists what is running, ralph watch shows it live",
  "monitor live tui": "ralph watch shows all runs live",
  "dashboard open web browser gui":
    "ralph ui shows all runs in a browser, ralph watch shows them in the terminal",
  "cost spend spending price usage budget":
    "ralph costs shows what the agents cost, ralph runs the cost of each run, --max-cost limits a run",
  "summary result results show view info inspect stats":
    "ralph report shows the result of a run, ralph status how it is doing",
  "log tail output follow": "ralph logs shows what a run printed, ralph logs --follow shows it live",
  "start begin go do exec execute task prompt":
    'ralph run "TEXT" starts a run here, ralph spawn starts one in the background',
  "background bg detach daemon": "ralph spawn starts a run in a window of tmux",
  "delete remove rm purge forget prune cleanup":
    "ralph clean forgets workers that have ended, ralph clean --worktrees removes worktrees that are landed",
  "changes files patch": "ralph diff shows what a run changed, ralph diff --stat only which files",
  "merge apply integrate accept": "ralph land brings the work of a run into your branch",
  "update upgrade": "npm install -g ralph-loop@latest updates ralph",
  "reply respond": 'ralph answer "TEXT" answers the question of a run',
  "ask question questions": 'ralph status shows the question of a run, ralph answer "TEXT" answers it',
  "tell say message msg instruct": 'ralph steer "TEXT" adds a text to the next prompt',
  "check checks test tests": "ralph loop TASK --check CMD works until the check passes",
  "setup new create configure": "ralph init creates the settings of this project",
  "settings set get": "ralph config shows and changes the settings",
  "health diagnose agents login auth": "ralph doctor says what works here and what to do",
  "worktree branch": 'ralph run "TEXT" --worktree works in a git worktree, ralph worktrees lists them',
  "story plan prd add": "ralph stories works on a list of stories",
  "spec prp": "ralph pipeline run FILE goes from a spec to working code",
  "undo reset revert rollback": "git undoes what a run changed: ralph never rewrites your commits",
  "example examples tutorial try": "ralph demo shows a run on a small project",
  version: "ralph --version prints it",
};

/** Those for the commands of `ralph stories` and `ralph pipeline`. */
const SYNONYMS: Record<string, string[]> = {
  resume: ["continue", "proceed", "retry"],
  run: ["start", "go", "loop", "continue"],
  status: ["list", "ls", "show", "view", "progress", "report"],
  init: ["new", "create", "setup"],
  verify: ["check", "test"],
  add: ["story", "append"],
};

/** The command that an unknown word means; undefined: none. */
export function meaningOf(word: string): string | undefined {
  if (/\s/.test(word.trim())) return `did you mean: ralph run ${quoteWord(word)}`;
  return Object.entries(MEANINGS).find(([words]) => words.split(" ").includes(word.toLowerCase()))?.[1];
}
