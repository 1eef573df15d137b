import { type Command, Option } from "commander";
import { about, collect, commandOf, withAgent, withLook, withOutput, withSafetyNets } from "./options.js";

type ExitWith = (code: number) => void;

/** `ralph spawn` and what is done with the workers that it starts. */
export function addWorkers(program: Command, exitWith: ExitWith): void {
  addSpawn(program, exitWith);
  addRepeat(program, exitWith);
  addLooks(program, exitWith);
  addTalk(program, exitWith);
  addEnds(program, exitWith);
}

function addSpawn(program: Command, exitWith: ExitWith): void {
  const command = commandOf(program);

  withSafetyNets(
    withAgent(
      command("spawn", "start a loop in a window of tmux and leave it there")
        .argument(
          "[words...]",
          "run, loop, stories run or pipeline run with its flags; or -- and the agent's command",
        )
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
    .action(async (words, flags, command) =>
      exitWith(await (await import("../commands/spawn.js")).spawn(words, givenOnly(command, flags))),
    );
}

/** What the window of a worker without a loop command runs. */
function addRepeat(program: Command, exitWith: ExitWith): void {
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
  ).action(async (words, flags) =>
    exitWith(await (await import("../commands/repeat.js")).repeat(words, flags)),
  );
}

function addLooks(program: Command, exitWith: ExitWith): void {
  const command = commandOf(program);

  command("ls", "list the workers, and the runs that are at work")
    .option("--format <format>", "table, json or names (default: table)")
    .option("--status <status>", "those that are running, paused, stopped, failed, crashed or unknown")
    .option("--tag <tag>", "those with this tag")
    .addHelpText(
      "after",
      about("ralph runs lists what has ended, too.", "ralph ls", "ralph ls --format json"),
    )
    .action(async (flags) => exitWith(await (await import("../commands/ls.js")).ls(flags)));

  withLook(command("watch", "watch all workers and runs on a live screen"))
    .addHelpText(
      "after",
      about("Keys attach, pause, resume, kill and show logs; ? lists them, q leaves.", "ralph watch"),
    )
    .action(async (flags) => exitWith(await (await import("../commands/watch-loops.js")).watchLoops(flags)));

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
    .action(async (name, flags) =>
      exitWith(await (await import("../commands/status.js")).status(name, flags)),
    );

  command("logs", "show what a worker printed")
    .argument("<worker>")
    .option("-f, --follow", "go on as it comes, until the loop ends")
    .option("--lines <n>", "lines from the end (default: 100)")
    .option("--events", "the log of the iterations in place of the output")
    .addHelpText(
      "after",
      about("Ctrl+C ends the look, not the worker.", "ralph logs docs", "ralph logs docs --events"),
    )
    .action(async (name, flags) => exitWith(await (await import("../commands/logs.js")).logs(name, flags)));
}

function addTalk(program: Command, exitWith: ExitWith): void {
  const command = commandOf(program);

  command("attach", "show a worker's window in this terminal")
    .argument("<worker>")
    .addHelpText("after", about("Ctrl+B D leaves it as it is.", "ralph attach docs"))
    .action(async (name) => exitWith(await (await import("../commands/attach.js")).attach(name)));

  command("send", "type into the terminal of a worker's agent")
    .argument("<worker>")
    .argument("<text>")
    .addHelpText("after", about("For agents that have the window's terminal.", 'ralph send tidy "yes"'))
    .action(async (name, text) => exitWith(await (await import("../commands/send.js")).send(name, text)));

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
    .action(async (name, text) => exitWith(await (await import("../commands/steer.js")).steer(name, text)));

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
    .action(async (name, text) => exitWith(await (await import("../commands/answer.js")).answer(name, text)));

  command("interrupt", "Ctrl+C for the agent at work; its loop goes on")
    .argument("<worker>")
    .addHelpText(
      "after",
      about("The iteration has failed then, and the next one starts.", "ralph interrupt docs"),
    )
    .action(async (name) => exitWith(await (await import("../commands/interrupt.js")).interrupt(name)));
}

function addEnds(program: Command, exitWith: ExitWith): void {
  const command = commandOf(program);

  command("kill", "end a worker and all that it started")
    .argument("<loop...>", "names of workers, or ids of runs")
    .option("--rm-worktree", "remove its worktree, if nothing in it is uncommitted")
    .addHelpText("after", about("What it made stays. A run is ended by its id.", "ralph kill docs"))
    .action(async (names, flags) => exitWith(await (await import("../commands/kill.js")).kill(names, flags)));

  command("wait", "wait until a worker's loop has ended")
    .argument("<worker>")
    .option("--timeout <duration>", "wait no longer, and exit 124")
    .addHelpText("after", about("Exits as the loop did.", "ralph wait docs", "ralph wait docs --timeout 10m"))
    .action(async (name, flags) => exitWith(await (await import("../commands/wait.js")).wait(name, flags)));

  command("clean", "forget workers that have ended")
    .argument("[worker...]")
    .addHelpText("after", about("Without WORKER: all of them. Their runs keep their records.", "ralph clean"))
    .action(async (names) => exitWith(await (await import("../commands/clean.js")).clean(names)));
}

/** Without what stands there because nobody said anything else. */
function givenOnly<Flags extends object>(command: Command, flags: Flags): Flags {
  const given = Object.entries(flags).filter(([name]) => command.getOptionValueSource(name) === "cli");
  return Object.fromEntries(given) as Flags;
}
