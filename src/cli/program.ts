import { Argument, Command, CommanderError, Option } from "commander";
import { RalphError, toRalphError } from "../errors.js";
import { LOOP_COMMANDS } from "../loop-commands.js";
import { nearest } from "../nearest.js";
import { version } from "../version.cjs";
import { refuseRepeats, refuseWithoutCommand, whatToDo } from "./mistakes.js";
import {
  about,
  collect,
  commandOf,
  withAgent,
  withBaseline,
  withLook,
  withOutput,
  withReport,
  withSafetyNets,
} from "./options.js";
import { addGate, addPipeline } from "./pipeline.js";
import { addStories } from "./stories.js";
import { addWorkers } from "./workers.js";

/** Every command and flag. Each action loads its command when it is called. */

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
  .configureOutput({ outputError: () => {} });

program.addHelpText(
  "after",
  about(
    "ralph COMMAND --help says more about a command.",
    "ralph demo",
    "ralph init",
    'ralph run -p "Fix the failing test. Say <response>DONE</response> when it passes." --check "npm test"',
    "ralph resume",
  ),
);

let exitCode = 0;
const exitWith = (code: number): void => {
  exitCode = code;
};
const command = commandOf(program);

program.commandsGroup("Start:");

withOutput(
  command("demo", "watch a loop work on a small project, with a scripted agent").option(
    "--keep",
    "leave the project, the records and the report behind",
  ),
)
  .addHelpText(
    "after",
    about("Takes some seconds. Needs git; no agent, no key, no network.", "ralph demo", "ralph demo --keep"),
  )
  .action(async (flags) => exitWith(await (await import("../commands/demo.js")).demo(flags)));

command("init", "make the settings of this project, or a first PROMPT.md")
  .option("-y, --yes", "write the defaults for what was found, without asking")
  .option("--agent <name>", "with --yes: the agent")
  .option("--prompt", "write PROMPT.md in place of the settings")
  .option("--force", "overwrite what is there (with --prompt or --yes)")
  .addHelpText(
    "after",
    about(
      "Asks for the agent, the guardrails and the SCM tasks, and writes .ralph/settings.json.\nCtrl+C writes nothing.",
      "ralph init",
      "ralph init --yes",
      "ralph init --prompt",
    ),
  )
  .action(async (flags) => exitWith(await (await import("../commands/init.js")).init(flags)));

command("template", "print a first PROMPT.md")
  .addHelpText("after", about("The same text as ralph init --prompt writes.", "ralph template > PROMPT.md"))
  .action(async () => exitWith(await (await import("../commands/template.js")).template()));

withLook(command("doctor", "tell whether ralph can work here, and what to do where it can't"))
  .option("--json", "one JSON document on stdout")
  .addHelpText(
    "after",
    about(
      `Looks at the settings, git, the system, sandboxes and agents. Secrets are not
read: only the names of variables and the existence of login files are told.
Exits 1 when there is a problem, and 0 when there are at most warnings.`,
      "ralph doctor",
      "ralph doctor --json",
    ),
  )
  .action(async (flags) => exitWith(await (await import("../commands/doctor.js")).doctor(flags)));

program.commandsGroup("Run:");

withReport(
  withOutput(
    withBaseline(
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
            .option("--worktree [name]", "work in a git worktree of its own")
            .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json"),
        ),
      ),
    ),
  ),
)
  .addHelpText(
    "after",
    about(
      "The agent is done when its final message says <response>DONE</response> on a line of its own, or at its end, and every guardrail exits 0.",
      'ralph run -p "Fix the failing test. Say <response>DONE</response> when it passes." --check "npm test"',
      "ralph run -f PROMPT.md --agent codex -n 20 --max-time 2h",
    ),
  )
  .action(async (flags) => exitWith(await (await import("../commands/run.js")).run(flags)));

withReport(
  withOutput(
    withBaseline(
      withSafetyNets(
        withAgent(
          command("loop", "loop a task until every check passes and the agent says that it is done")
            .argument("[task]")
            .option("--check <command>", "shell command that must exit 0 (repeatable, required)", collect)
            .option("--spec <file>", "file in place of TASK, read anew for each iteration")
            .option("--completion-tag <tag>", "what the agent says when it is done (default: COMPLETE)")
            .option("--no-completion-tag", "the checks alone decide")
            .option("--check-timeout <duration>", "a check that takes longer has failed (default: 120)")
            .option("--worktree [name]", "work in a git worktree of its own")
            .option("-c, --config <file>", "JSON or YAML file in place of .ralph/settings.json")
            .addOption(new Option("-C, --config-file <file>", "same as --config").hideHelp()),
        ),
        25,
      ),
    ),
  ),
)
  .addHelpText(
    "after",
    about(
      `Every iteration starts with a clean context: the task, the checks, the changes
so far, what the checks said, and the progress. It is done when every check exits
0 and the final message of the agent has the completion tag on a line of its own.`,
      'ralph loop "Make the tests pass" --check "npm test"',
      'ralph loop "Migrate to async/await" --check "npm test" --worktree --max-iterations 10',
      'ralph loop --spec SPEC.md --check "npm test" --max-cost 3 --max-time 10m --report markdown',
    ),
  )
  .action(async (task, flags) => exitWith(await (await import("../commands/loop.js")).loop(task, flags)));

addStories(command("stories", "work on a list of stories, each with a review by a fresh agent"), exitWith);

addPipeline(command("pipeline", "go from a spec to working code, through gates"), exitWith);

addGate(command("gate", "run one gate of the pipeline, here or in CI"), exitWith);

withReport(
  withOutput(
    withSafetyNets(
      command(
        "resume",
        "go on with a run or a worker that was paused, stopped, interrupted or killed",
      ).argument("[loop]", "id of a run, or name of a worker"),
      null,
    ),
  ),
)
  .addHelpText(
    "after",
    about(
      "Without LOOP: the latest unfinished run of this folder. Limits that are given take the place of the old ones; a loop that is alive keeps its own, and refuses them.",
      "ralph resume",
      "ralph resume --max-iterations 30 --max-cost 20",
    ),
  )
  .action(async (name, flags) => exitWith(await (await import("../commands/resume.js")).resume(name, flags)));

command("pause", "let the agent at work finish, then wait until the loop is resumed")
  .argument("[loop]", "id of a run, or name of a worker")
  .addHelpText(
    "after",
    about("Without LOOP: the run that is at work in this folder. ralph resume ends the wait.", "ralph pause"),
  )
  .action(async (name) => exitWith(await (await import("../commands/pause.js")).pause(name)));

program.commandsGroup("Workers:");

addWorkers(program, exitWith);

program.commandsGroup("Look:");

command("runs", "list the runs")
  .option("--json", "as JSON, all of them")
  .option("--all", "also those before the latest thousand")
  .addHelpText("after", about("The oldest first.", "ralph runs", "ralph runs --json"))
  .action(async (flags) => exitWith(await (await import("../commands/runs.js")).runs(flags)));

withLook(command("report", "show what a run came to").argument("[loop]", "id of a run, or name of a worker"))
  .option("--json", "as JSON")
  .option("--markdown", "as Markdown")
  .option("--html <file>", "write one self-contained page (-: to stdout)")
  .addHelpText(
    "after",
    about(
      "Without LOOP: the latest run of this folder. The beginning of an id is enough.",
      "ralph report",
      "ralph report --markdown",
      "ralph report --html report.html",
    ),
  )
  .action(async (name, flags) => exitWith(await (await import("../commands/report.js")).report(name, flags)));

withLook(
  command("guard", "tell whether the guard would let a command run, and why not").argument("<command>"),
)
  .option("--json", "one JSON document on stdout")
  .addHelpText(
    "after",
    about(
      `Nothing is run. Exits 0 when the command would run and 1 when it is refused;
- takes it from stdin. Lines in ralph/allowed-commands.txt are exceptions.
The guard is a seat belt, not a sandbox: it stops accidents and the usual
tricks, and nobody who means to get past it.`,
      'ralph guard "npm test"',
      'ralph guard "git reset --hard" --json',
      "echo 'rm -rf build' | ralph guard -",
    ),
  )
  .action(async (given, flags) => exitWith(await (await import("../commands/guard.js")).guard(given, flags)));

command("config", "show the settings in force and where each comes from")
  .option("--json", "as JSON")
  .option("--schema", "print the JSON Schema of the settings file")
  .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json")
  .addHelpText("after", about("Secrets are not shown.", "ralph config", "ralph config --schema"))
  .action(async (flags) => exitWith(await (await import("../commands/config.js")).config(flags)));

command("hook", "answer a hook of Claude Code or Codex")
  .addArgument(
    new Argument("[name]").choices(["stop", "context", "pre-tool-use", "session-start"]).argParser(String),
  )
  .option("--loop <url>", "where the loop that started the agent answers")
  .addHelpText(
    "after",
    about(
      `Agents call this: JSON on stdin, JSON on stdout. Whatever goes wrong, the agent
goes on. A loop sets its agents up itself; the plugin is for your own sessions.
  stop           keeps an agent at work while its stories are not in order
  context        tells an agent when its context fills up
  pre-tool-use   refuses what the guard refuses (see ralph guard --help)
  session-start  lets the alerts of a session count anew`,
      'echo \'{"session_id":"1"}\' | ralph hook context',
    ),
  )
  .action(async (name, flags) => exitWith(await (await import("../commands/hook.js")).hook(name, flags)));

command("completion", "print a script that completes ralph's commands in your shell")
  .addArgument(new Argument("[shell]").choices(["bash", "zsh", "fish"]).argParser(String))
  .addHelpText(
    "after",
    about(
      `The line for the start-up file of each shell:
  ~/.bashrc                   eval "$(ralph completion bash)"
  ~/.zshrc                    source <(ralph completion zsh)
  ~/.config/fish/config.fish  ralph completion fish | source`,
      "ralph completion bash",
    ),
  )
  .action(async (shell) => exitWith(await (await import("../commands/completion.js")).completion(shell)));

program
  .command("complete", { hidden: true })
  .argument("[words...]")
  .helpOption(false)
  .allowUnknownOption()
  .action(async (words) =>
    exitWith(await (await import("../commands/complete.js")).complete(program, words)),
  );

command("help", "show help of a command")
  .argument("[command]")
  .addHelpText("after", about("The same as ralph COMMAND --help.", "ralph help run"))
  .action((name?: string) => {
    const found = program.commands.find((known) => known.name() === name);
    if (name !== undefined && found === undefined) throw unknownCommand(name);
    (found ?? program).outputHelp();
  });

function unknownCommand(name: string): RalphError {
  const known = program.commands.map((command) => command.name()).filter((other) => other !== "complete");
  const meant = nearest(name, known);
  return new RalphError(`unknown command '${name}'`, {
    code: "command_unknown",
    ...(meant !== undefined && { hint: `did you mean ${meant}?` }),
  });
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
    return await report(error);
  }
}

/** `spawn --worktree loop …`, `spawn --sandbox loop …`: a value that may be left out would take the loop. */
function withoutSwallowing(words: string[]): string[] {
  if (words[2] !== "spawn") return words;
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const isLoop = (word = ""): boolean => Object.hasOwn(LOOP_COMMANDS, word);
  return words.map((word, at) =>
    ["--worktree", "--sandbox"].includes(word) && at < end && isLoop(words[at + 1]) ? `${word}=` : word,
  );
}

/** Agents take exit 2 of a hook for a refusal, and hold whatever they wanted to do. */
async function report(error: unknown): Promise<number> {
  const code = await told(error);
  return process.argv[2] === "hook" ? Math.min(code, 1) : code;
}

/** The one place where a failure is told. */
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

/** What was written to a pipe is on its way: leaving before it was taken would lose it. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) return resolve();
    stream.write("", () => resolve());
    for (const name of ["close", "error"]) stream.once(name, () => resolve());
  });
}

/** One line that shows no secret and does not steer the terminal, whatever is quoted in it. */
async function say(message: string): Promise<void> {
  const { createRedactor } = await import("../records/redact.js");
  const { harmlessLine } = await import("../views/harmless.js");
  process.stderr.write(`ralph: error: ${harmlessLine(createRedactor(process.env)(message))}\n`);
}

const code = await main();
await Promise.all([process.stdout, process.stderr].map(written));
(await import("../gone-terminal.js")).letGoOfGoneTerminal();
process.exit(code);
