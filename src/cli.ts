import { Argument, Command, CommanderError, Option } from "commander";
import {
  about,
  collect,
  withAgent,
  withBaseline,
  withLook,
  withOutput,
  withReport,
  withSafetyNets,
} from "./cli/options.js";
import { addGate, addPipeline } from "./cli/pipeline.js";
import { addStories } from "./cli/stories.js";
import { RalphError, toRalphError } from "./errors.js";
import { LOOP_COMMANDS } from "./loop-commands.js";
import { nearest } from "./nearest.js";
import { version } from "./version.js";

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
  .action(async (flags) => {
    exitCode = await (await import("./commands/demo.js")).demo(flags);
  });

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
  .action(async (flags) => {
    exitCode = await (await import("./commands/init.js")).init(flags);
  });

command("template", "print a first PROMPT.md")
  .addHelpText("after", about("The same text as ralph init --prompt writes.", "ralph template > PROMPT.md"))
  .action(async () => {
    exitCode = await (await import("./commands/template.js")).template();
  });

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
  .action(async (flags) => {
    exitCode = await (await import("./commands/doctor.js")).doctor(flags);
  });

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
      "The agent is done when its final message holds <response>DONE</response> and every guardrail exits 0.",
      'ralph run -p "Fix the failing test. Say <response>DONE</response> when it passes." --check "npm test"',
      "ralph run -f PROMPT.md --agent codex -n 20 --max-time 2h",
    ),
  )
  .action(async (flags) => {
    exitCode = await (await import("./commands/run.js")).run(flags);
  });

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
  .action(async (task, flags) => {
    exitCode = await (await import("./commands/loop.js")).loop(task, flags);
  });

addStories(command("stories", "work on a list of stories, each with a review by a fresh agent"), (code) => {
  exitCode = code;
});

addPipeline(command("pipeline", "go from a spec to working code, through gates"), (code) => {
  exitCode = code;
});

addGate(command("gate", "run one gate of the pipeline, here or in CI"), (code) => {
  exitCode = code;
});

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
      "Without LOOP: the latest unfinished run of this folder. Limits that are given take the place of the old ones.",
      "ralph resume",
      "ralph resume --max-iterations 30 --max-cost 20",
    ),
  )
  .action(async (name, flags) => {
    exitCode = await (await import("./commands/resume.js")).resume(name, flags);
  });

command("pause", "let the agent at work finish, then wait until the loop is resumed")
  .argument("[loop]", "id of a run, or name of a worker")
  .addHelpText(
    "after",
    about("Without LOOP: the run that is at work in this folder. ralph resume ends the wait.", "ralph pause"),
  )
  .action(async (name) => {
    exitCode = await (await import("./commands/pause.js")).pause(name);
  });

program.commandsGroup("Workers:");

withSafetyNets(
  withAgent(
    command("spawn", "start a loop in a window of tmux and leave it there")
      .argument("[words...]", "run, loop or stories run with its flags; or -- and the agent's command")
      .passThroughOptions()
      .option("--name <name>", "what the worker is called (required)")
      .option("--ralph", "accepted, and nothing else: every worker is a loop")
      .option("--prompt-file <file>", "file with the prompt, read anew for each iteration")
      .option("--done-pattern <regex>", "stop when the agent says something that matches")
      .addOption(
        new Option(
          "--prompt-via <way>",
          "how a command on the terminal gets the prompt (default: stdin)",
        ).choices(["stdin", "keys"]),
      )
      .option("--worktree [name]", "work in a git worktree of its own (default: called as the worker)")
      .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json")
      .option("--tag <tag>", "a word to find it by (repeatable)", collect)
      .option("--env <name=value>", "a variable for the loop and its agent (repeatable)", collect)
      .option("--cwd <dir>", "the folder to work in (default: this one)")
      .option("--session <name>", "session of tmux (default: ralph)")
      .option("--tmux-socket <name>", "server of tmux (default: one for ralph alone)"),
  ),
  null,
)
  .addHelpText(
    "after",
    about(
      `A known agent works headless and its steps are shown in the window; any other
command gets the window's terminal. The loop ends when the agent says the done
pattern, or after --max-iterations, which is required. Silence is allowed for 900 s,
on the terminal for 60 s.`,
      "ralph spawn --name docs --prompt-file PROMPT.md --max-iterations 20 -- claude",
      'ralph spawn --name auth loop "add JWT" --check "npm test"',
      'ralph spawn --name tidy --prompt-file PROMPT.md -n 5 --done-pattern "All tasks complete" -- bash -c "cat; date"',
    ),
  )
  .action(async (words, flags, command) => {
    exitCode = await (await import("./commands/spawn.js")).spawn(words, givenOnly(command, flags));
  });

withOutput(
  withSafetyNets(
    withAgent(
      program
        .command("repeat", { hidden: true })
        .argument("[command...]")
        .helpOption(false)
        .requiredOption("--prompt-file <file>")
        .option("--done-pattern <regex>")
        .option("--prompt-via <way>")
        .option("--worktree [name]")
        .option("-C, --config <file>"),
    ),
  ),
).action(async (words, flags) => {
  exitCode = await (await import("./commands/repeat.js")).repeat(words, flags);
});

command("ls", "list the workers, and the runs that are at work")
  .option("--format <format>", "table, json or names (default: table)")
  .option("--status <status>", "those that are running, paused, stopped, failed, crashed or unknown")
  .option("--tag <tag>", "those with this tag")
  .addHelpText("after", about("ralph runs lists what has ended, too.", "ralph ls", "ralph ls --format json"))
  .action(async (flags) => {
    exitCode = await (await import("./commands/ls.js")).ls(flags);
  });

withLook(command("watch", "watch all workers and runs on a live screen"))
  .addHelpText(
    "after",
    about("Keys attach, pause, resume, kill and show logs; ? lists them, q leaves.", "ralph watch"),
  )
  .action(async (flags) => {
    exitCode = await (await import("./commands/watch-loops.js")).watchLoops(flags);
  });

command("status", "show where a worker stands")
  .argument("<loop>", "name of a worker, or id of a run")
  .option("--json", "as JSON")
  .addHelpText(
    "after",
    about(
      "Exits 0 while it runs or is paused, 1 when it has ended, 2 when nobody knows.",
      "ralph status docs",
    ),
  )
  .action(async (name, flags) => {
    exitCode = await (await import("./commands/status.js")).status(name, flags);
  });

command("logs", "show what a worker printed")
  .argument("<worker>")
  .option("-f, --follow", "go on as it comes, until the loop ends")
  .option("--lines <n>", "lines from the end (default: 100)")
  .option("--events", "the log of the iterations in place of the output")
  .addHelpText(
    "after",
    about("Ctrl+C ends the look, not the worker.", "ralph logs docs", "ralph logs docs --events"),
  )
  .action(async (name, flags) => {
    exitCode = await (await import("./commands/logs.js")).logs(name, flags);
  });

command("attach", "show a worker's window in this terminal")
  .argument("<worker>")
  .addHelpText("after", about("Ctrl+B D leaves it as it is.", "ralph attach docs"))
  .action(async (name) => {
    exitCode = await (await import("./commands/attach.js")).attach(name);
  });

command("send", "type into the terminal of a worker's agent")
  .argument("<worker>")
  .argument("<text>")
  .addHelpText("after", about("For agents that have the window's terminal.", 'ralph send tidy "yes"'))
  .action(async (name, text) => {
    exitCode = await (await import("./commands/send.js")).send(name, text);
  });

command("steer", "tell the next iteration something, once")
  .argument("<loop>", "name of a worker, or id of a run")
  .argument("<text>")
  .addHelpText(
    "after",
    about(
      "For workers and for runs. The text stands at the end of the prompt.",
      'ralph steer docs "Leave the API alone."',
    ),
  )
  .action(async (name, text) => {
    exitCode = await (await import("./commands/steer.js")).steer(name, text);
  });

command("answer", "answer what an agent asked when its run stopped as blocked")
  .argument("<run>")
  .argument("<text>")
  .addHelpText(
    "after",
    about(
      "For runs and for workers. ralph resume goes on, with the answer in the prompt.",
      'ralph answer 20260126-185500-042f9a "Use SQLite."',
    ),
  )
  .action(async (name, text) => {
    exitCode = await (await import("./commands/answer.js")).answer(name, text);
  });

command("interrupt", "Ctrl+C for the agent at work; its loop goes on")
  .argument("<worker>")
  .addHelpText(
    "after",
    about("The iteration has failed then, and the next one starts.", "ralph interrupt docs"),
  )
  .action(async (name) => {
    exitCode = await (await import("./commands/interrupt.js")).interrupt(name);
  });

command("kill", "end a worker and all that it started")
  .argument("<loop...>", "names of workers, or ids of runs")
  .option("--rm-worktree", "remove its worktree, if nothing in it is uncommitted")
  .addHelpText("after", about("What it made stays. A run is ended by its id.", "ralph kill docs"))
  .action(async (names, flags) => {
    exitCode = await (await import("./commands/kill.js")).kill(names, flags);
  });

command("wait", "wait until a worker's loop has ended")
  .argument("<worker>")
  .option("--timeout <duration>", "wait no longer, and exit 124")
  .addHelpText("after", about("Exits as the loop did.", "ralph wait docs", "ralph wait docs --timeout 10m"))
  .action(async (name, flags) => {
    exitCode = await (await import("./commands/wait.js")).wait(name, flags);
  });

command("clean", "forget workers that have ended")
  .argument("[worker...]")
  .addHelpText("after", about("Without WORKER: all of them. Their runs keep their records.", "ralph clean"))
  .action(async (names) => {
    exitCode = await (await import("./commands/clean.js")).clean(names);
  });

program.commandsGroup("Look:");

command("runs", "list the runs")
  .option("--json", "as JSON")
  .addHelpText("after", about("The oldest first.", "ralph runs", "ralph runs --json"))
  .action(async (flags) => {
    exitCode = await (await import("./commands/runs.js")).runs(flags);
  });

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
  .action(async (name, flags) => {
    exitCode = await (await import("./commands/report.js")).report(name, flags);
  });

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
  .action(async (given, flags) => {
    exitCode = await (await import("./commands/guard.js")).guard(given, flags);
  });

command("config", "show the settings in force and where each comes from")
  .option("--json", "as JSON")
  .option("--schema", "print the JSON Schema of the settings file")
  .option("-C, --config <file>", "JSON or YAML file in place of .ralph/settings.json")
  .addHelpText("after", about("Secrets are not shown.", "ralph config", "ralph config --schema"))
  .action(async (flags) => {
    exitCode = await (await import("./commands/config.js")).config(flags);
  });

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
  .action(async (name, flags) => {
    exitCode = await (await import("./commands/hook.js")).hook(name, flags);
  });

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

command("help", "show help of a command")
  .argument("[command]")
  .addHelpText("after", about("The same as ralph COMMAND --help.", "ralph help run"))
  .action((name?: string) => {
    const found = program.commands.find((known) => known.name() === name);
    if (name !== undefined && found === undefined) throw unknownCommand(name);
    (found ?? program).outputHelp();
  });

/** Without what stands there because nobody said anything else. */
function givenOnly<Flags extends object>(command: Command, flags: Flags): Flags {
  const given = Object.entries(flags).filter(([name]) => command.getOptionValueSource(name) === "cli");
  return Object.fromEntries(given) as Flags;
}

function unknownCommand(name: string): RalphError {
  const known = program.commands.map((command) => command.name()).filter((other) => other !== "complete");
  const meant = nearest(name, known);
  return new RalphError(`unknown command '${name}'`, {
    code: "command_unknown",
    ...(meant !== undefined && { hint: `did you mean ${meant}?` }),
  });
}

function command(name: string, description: string): Command {
  return program.command(name).description(description).helpOption("-h, --help", "show help");
}

async function main(): Promise<number> {
  try {
    if (process.env["GITHUB_ACTIONS"] === "true")
      (await import("./views/workflow-commands.js")).guardOutput();
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
    await say(
      error.code === "commander.help" ? "a command is missing" : error.message.replace(/^error: /, ""),
    );
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

/** One line that shows no secret and does not steer the terminal, whatever is quoted in it. */
async function say(message: string): Promise<void> {
  const { createRedactor } = await import("./state/redact.js");
  const { harmlessLine } = await import("./views/harmless.js");
  process.stderr.write(`ralph: error: ${harmlessLine(createRedactor(process.env)(message))}\n`);
}

const code = await main();
await Promise.all([process.stdout, process.stderr].map(written));
(await import("./gone-terminal.js")).letGoOfGoneTerminal();
process.exit(code);
