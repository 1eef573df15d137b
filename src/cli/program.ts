import { Command, CommanderError } from "commander";
import { RalphError, toRalphError } from "../errors.js";
import { manifest } from "../package-folder.cjs";
import { didYouMean } from "../words.js";
import { addCommand, addHelp, type CommandRow, row } from "./build.js";
import { COMMANDS } from "./commands.js";
import { meaningOf, refuseRepeats, refuseWithoutCommand, whatToDo, withoutSwallowing } from "./mistakes.js";
import { LOOP_COMMANDS } from "./recipes.js";

let exitCode = 0;

const program = new Command("ralph")
  .description(
    "Runs a coding agent again and again, each time with a fresh context, until ralph itself has verified that the work is done.",
  )
  .version(manifest().version, "-v, --version", "print the version")
  .helpOption("-h, --help", "show help")
  .helpCommand(false)
  .showSuggestionAfterError()
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({ outputError: () => {} });
addHelp(
  program,
  "Details: ralph COMMAND --help",
  "ralph demo",
  "ralph init",
  'ralph run "Fix the failing test." --check "npm test"',
  "ralph resume",
);

const help = row("help [command]", "show the help of a command", {
  help: ["Prints the same as ralph COMMAND --help.", "ralph help run"],
  run: showHelp,
});
const exitWith = (code: number): void => {
  exitCode = code;
};
// Building the flags of every command takes as long as starting git: a loop command builds only its own.
const [, , asked = ""] = process.argv;
const isLoop = LOOP_COMMANDS.some(([first]) => first === asked);
/** It has the flags of all recipes once more. */
const isLeftOut = ({ words }: CommandRow): boolean =>
  words === "fleet" && !["fleet", "complete"].includes(asked);
for (const [heading, rows] of Object.entries(COMMANDS)) {
  program.commandsGroup(heading);
  for (const one of rows) {
    const isPlain = (isLoop && !one.words.startsWith(asked)) || isLeftOut(one);
    addCommand(program, isPlain ? row(one.words, one.about, {}) : one, exitWith);
  }
}
addCommand(program, help, exitWith);

function showHelp(name?: string): number {
  const shown = program.createHelp().visibleCommands(program);
  const found = name === undefined ? program : shown.find((command) => command.name() === name);
  if (found === undefined) {
    const names = shown.map((command) => command.name());
    const hint = meaningOf(name ?? "") ?? didYouMean(name ?? "", names);
    throw new RalphError(`unknown command '${name}'`, { code: "command_unknown", hint });
  }
  found.outputHelp();
  return 0;
}

async function main(): Promise<number> {
  const { argv, env } = process;
  hideArguments(argv);
  try {
    if (env["GITHUB_ACTIONS"] === "true") (await import("../views/report/markdown.js")).guardOutput();
    refuseRepeats(program);
    refuseWithoutCommand(program, argv.slice(2));
    if (argv.length <= 2) program.outputHelp();
    else await program.parseAsync(withoutSwallowing(argv));
    return exitCode;
  } catch (error) {
    const code = await told(error);
    // To agents, exit 2 of a hook means a refusal.
    return argv[2] === "hook" ? Math.min(code, 1) : code;
  }
}

/** Every program of this machine can read the arguments of every other one: those of a hidden check go away. */
function hideArguments(argv: string[]): void {
  const [, , command = ""] = argv;
  if (argv.some((word) => word.startsWith("--hidden-check"))) process.title = `ralph ${command}`;
}

/** The one place that prints a failure. Returns the exit code. */
async function told(error: unknown): Promise<number> {
  const { createRedactor } = await import("../records/redact.js");
  const { harmless, harmlessLine } = await import("../views/harmless.js");
  /** One line without secrets and control characters, whatever it quotes. */
  const say = (message: string): void =>
    void process.stderr.write(`ralph: error: ${harmlessLine(createRedactor(process.env)(message))}\n`);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Its help was shown in place of a message.
    say(error.code === "commander.help" ? "a command is missing" : whatToDo(program, error));
    return 2;
  }
  const known = toRalphError(error);
  if (known !== undefined) {
    say(known.hint === undefined ? known.message : `${known.message} (${known.hint})`);
    return known.exitCode;
  }
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  say(`${message} (this is a bug in ralph; --verbose shows where)`);
  if (["--verbose", "-V"].some((flag) => process.argv.includes(flag)))
    process.stderr.write(`${harmless(stack)}\n`);
  return 1;
}

/** Runs the command that this process was started for. Returns the exit code when all that it wrote was taken. */
export async function runCommand(): Promise<number> {
  const code = await main();
  // Output to a pipe is lost if ralph exits before the reader has taken it.
  for (const stream of [process.stdout, process.stderr])
    if (!stream.destroyed && stream.writableLength > 0)
      await new Promise<void>((resolve) => {
        stream.write("", () => resolve());
        for (const name of ["close", "error"]) stream.once(name, () => resolve());
      });
  (await import("../let-go-of-terminal.js")).letGoOfTerminal();
  return code;
}
