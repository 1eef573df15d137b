import { Argument, Command, CommanderError } from "commander";
import { toRalphError } from "./errors.js";
import { version } from "./version.js";

/** Every command and flag. Each action loads its command when it is called. */

const program = new Command("ralph")
  .description(
    "Re-runs a coding agent with a fresh context each time, until ralph itself has verified that the work is done.",
  )
  .version(version(), "-v, --version", "print the version")
  .helpOption("-h, --help", "show help")
  .helpCommand("help [command]", "show help of a command")
  .showSuggestionAfterError()
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({ outputError: () => {} });

let exitCode = 0;

withOutput(
  withSafetyNets(
    withAgent(
      command("run", "loop a prompt until the agent is done and every guardrail passes")
        .option("-p, --prompt <text>", "the prompt")
        .option("-f, --prompt-file <file>", "file with the prompt, read anew for each iteration")
        .option("-m, --maximum-iterations <n>", "same as --max-iterations")
        .option("-c, --completion-response <text>", "what <response> must say (default: DONE)")
        .option("--done-pattern <regex>", "a final message that matches also means done")
        .option("--check <command>", "a guardrail for this run (repeatable)", collect)
        .option("--stream-agent-output", "show what the agent does (default)")
        .option("--no-stream-agent-output", "ask for the final answer alone")
        .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json"),
    ),
  ),
)
  .addHelpText(
    "after",
    `
The agent is done when its final message holds <response>DONE</response> and every guardrail exits 0.

Examples:
  ralph run -p "Fix the failing test. Say <response>DONE</response> when it passes." --check "npm test"
  ralph run -f PROMPT.md --agent codex -n 20 --max-time 2h
`,
  )
  .action(async (flags) => {
    exitCode = await (await import("./commands/run.js")).run(flags);
  });

withOutput(
  withSafetyNets(
    command("resume", "go on with a run that was paused, stopped, interrupted or killed").argument("[run]"),
  ),
)
  .addHelpText(
    "after",
    `
Without RUN: the latest unfinished run of this folder. Limits that are given are raised, the others stay.

Examples:
  ralph resume
  ralph resume 20260126-185500-3f9a --max-iterations 30
`,
  )
  .action(async (name, flags) => {
    exitCode = await (await import("./commands/resume.js")).resume(name, flags);
  });

command("pause", "let the agent at work finish, then wait until the run is resumed")
  .argument("[run]")
  .action(async (name) => {
    exitCode = await (await import("./commands/pause.js")).pause(name);
  });

command("runs", "list the runs")
  .option("--json", "as JSON")
  .action(async (flags) => {
    exitCode = await (await import("./commands/runs.js")).runs(flags);
  });

command("completion", "print a script that completes ralph's commands in your shell")
  .addArgument(new Argument("[shell]").choices(["bash", "zsh", "fish"]).argParser(String))
  .addHelpText(
    "after",
    `
The line for the start-up file of each shell:
  ~/.bashrc                   eval "$(ralph completion bash)"
  ~/.zshrc                    source <(ralph completion zsh)
  ~/.config/fish/config.fish  ralph completion fish | source
`,
  )
  .action(async (shell) => {
    exitCode = await (await import("./commands/completion.js")).completion(shell);
  });

program
  .command("complete", { hidden: true })
  .argument("[words...]")
  .helpOption(false)
  .allowUnknownOption()
  .action(async (words) => {
    exitCode = await (await import("./commands/complete.js")).complete(program, words);
  });

function command(name: string, description: string): Command {
  return program.command(name).description(description).helpOption("-h, --help", "show help");
}

function withAgent(to: Command): Command {
  return to
    .option(
      "--agent <name>",
      "claude, codex, amp, gemini, opencode, a profile in the settings, or any command",
    )
    .option("--model <model>", "the agent's model")
    .option("--agent-flag <flag>", "a flag for the agent (repeatable)", collect);
}

function withSafetyNets(to: Command): Command {
  return to
    .option("-n, --max-iterations <n>", "iterations at the most (default: 10)")
    .option("--max-cost <usd>", "stop when more was spent")
    .option("--max-tokens <n>", "stop when more were used")
    .option("--max-time <duration>", "stop after 600 (seconds), 90s, 10m, 2h or 1d")
    .option("--iteration-timeout <duration>", "kill an agent that runs longer")
    .option("--inactivity-timeout <s>", "kill an agent without a sign of life (default: 900, 0: never)")
    .option("--max-failures <n>", "failed iterations in a row (default: 5)")
    .option("--stuck-after <n>", "iterations that fail alike and change nothing (default: 3, 0: never)");
}

function withOutput(to: Command): Command {
  return to
    .option("--json", "one event per line on stdout")
    .option("-q, --quiet", "the closing summary alone")
    .option("-V, --verbose", "tell every step on stderr")
    .option("--timestamps", "the time before each line")
    .option("--no-color", "no colours")
    .option("--no-emoji", "text markers in place of emoji");
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

async function main(): Promise<number> {
  try {
    if (process.argv.length <= 2) program.outputHelp();
    else await program.parseAsync();
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

/** The one place where a failure is told. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    say(error.message.replace(/^error: /, "").replace(/\s+/g, " "));
    return 2;
  }
  const known = toRalphError(error);
  if (known !== undefined) {
    say(known.hint === undefined ? known.message : `${known.message} (${known.hint})`);
    return known.exitCode;
  }
  say(`${error instanceof Error ? error.message : error} (this is a bug in ralph; --verbose shows where)`);
  const wantsTrace = process.argv.includes("--verbose") || process.argv.includes("-V");
  if (wantsTrace && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return 1;
}

/** What was written to a pipe is on its way: leaving before it was taken would lose it. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) return resolve();
    stream.write("", () => resolve());
    for (const name of ["close", "error"]) stream.once(name, () => resolve());
  });
}

function say(message: string): void {
  process.stderr.write(`ralph: error: ${message}\n`);
}

const code = await main();
await Promise.all([process.stdout, process.stderr].map(written));
process.exit(code);
