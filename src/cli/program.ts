import { Command, CommanderError } from "commander";
import { RalphError, toRalphError } from "../errors.js";
import { didYouMean } from "../nearest.js";
import { version } from "../version.cjs";
import { addCommand, helpText, row } from "./build.js";
import { COMMANDS } from "./commands.js";
import { refuseRepeats, refuseWithoutCommand, whatToDo, withoutSwallowing } from "./mistakes.js";

let exitCode = 0;

const program = new Command("ralph")
  .description(
    "Re-runs a coding agent with a fresh context each time, until ralph itself has verified that the work is done.",
  )
  .version(version(), "-v, --version", "print the version")
  .helpOption("-h, --help", "show help")
  .helpCommand(false)
  .showSuggestionAfterError()
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({ outputError: () => {} })
  .addHelpText(
    "after",
    helpText(
      "ralph COMMAND --help says more about a command.",
      "ralph demo",
      "ralph init",
      'ralph run -p "Fix the failing test. Say <response>DONE</response> when it passes." --check "npm test"',
      "ralph resume",
    ),
  );

const exitWith = (code: number): void => {
  exitCode = code;
};
for (const [heading, rows] of Object.entries(COMMANDS)) {
  program.commandsGroup(heading);
  for (const one of rows) addCommand(program, one, exitWith);
}
addCommand(
  program,
  row("help [command]", "show help of a command", {
    help: ["The same as ralph COMMAND --help.", "ralph help run"],
    run: showHelp,
  }),
  exitWith,
);

function showHelp(name?: string): number {
  const found = name === undefined ? program : program.commands.find((command) => command.name() === name);
  if (found === undefined) {
    const known = program.commands.map((command) => command.name()).filter((one) => one !== "complete");
    throw new RalphError(`unknown command '${name}'`, {
      code: "command_unknown",
      hint: didYouMean(name as string, known),
    });
  }
  found.outputHelp();
  return 0;
}

async function main(): Promise<number> {
  try {
    if (process.env["GITHUB_ACTIONS"] === "true")
      (await import("../views/workflow-commands.js")).guardOutput();
    refuseRepeats(program);
    refuseWithoutCommand(program, process.argv.slice(2));
    if (process.argv.length <= 2) program.outputHelp();
    else await program.parseAsync(withoutSwallowing(process.argv));
    return exitCode;
  } catch (error) {
    const code = await told(error);
    // Agents take exit 2 of a hook for a refusal, and hold whatever they wanted to do.
    return process.argv[2] === "hook" ? Math.min(code, 1) : code;
  }
}

/** The one place where a failure is told. Returns the exit code. */
async function told(error: unknown): Promise<number> {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Its help was shown in place of a message.
    await say(error.code === "commander.help" ? "a command is missing" : whatToDo(program, error));
    return 2;
  }
  const known = toRalphError(error);
  if (known !== undefined) {
    await say(known.hint === undefined ? known.message : `${known.message} (${known.hint})`);
    return known.exitCode;
  }
  await say(
    `${error instanceof Error ? error.message : error} (this is a bug in ralph; --verbose shows where)`,
  );
  const wantsTrace = process.argv.includes("--verbose") || process.argv.includes("-V");
  if (wantsTrace && error instanceof Error) {
    const { harmless } = await import("../views/harmless.js");
    process.stderr.write(`${harmless(error.stack ?? "")}\n`);
  }
  return 1;
}

/** One line that shows no secret and does not steer the terminal, whatever is quoted in it. */
async function say(message: string): Promise<void> {
  const { createRedactor } = await import("../records/redact.js");
  const { harmlessLine } = await import("../views/harmless.js");
  process.stderr.write(`ralph: error: ${harmlessLine(createRedactor(process.env)(message))}\n`);
}

/** What was written to a pipe is on its way: leaving before it was taken would lose it. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) return resolve();
    stream.write("", () => resolve());
    for (const name of ["close", "error"]) stream.once(name, () => resolve());
  });
}

/** Runs the command that this process was started for, and ends the process. */
export async function runCommand(): Promise<never> {
  const code = await main();
  await Promise.all([process.stdout, process.stderr].map(written));
  (await import("../gone-terminal.js")).letGoOfGoneTerminal();
  process.exit(code);
}
