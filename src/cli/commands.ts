import { row } from "./build.js";
import { CONFIG, flag, JSON_DOCUMENT, many, OUTPUT, SHOW, STATUS_HELP } from "./flags.js";
import { FLEET_COMMANDS } from "./fleet.js";
import { RUN_COMMANDS } from "./recipes.js";
import { PULL_REQUESTS, WORK_COMMANDS } from "./work.js";
import { WORKER_COMMANDS } from "./workers.js";

const START = [
  row("demo", "watch a loop work on a small project, with a scripted agent", {
    flags: [flag("--keep", "keep the project, the records and the report"), ...OUTPUT],
    help: [
      "Takes a few seconds. Needs git, but no agent, no key and no network.",
      "ralph demo",
      "ralph demo --keep",
    ],
    run: async (flags) => (await import("../commands/demo.js")).demo(flags),
  }),
  row("init", "write the settings of this project, or a first PROMPT.md", {
    flags: [
      flag("-y, --yes", "ask nothing: write defaults for what ralph finds here"),
      flag("--agent <name>", "with --yes: use this agent"),
      flag("--prompt", "write PROMPT.md instead of the settings"),
      flag("--force", "overwrite existing files (with --prompt or --yes)"),
    ],
    help: [
      "Asks for the agent, the checks, the setup of new worktrees, and the limits, each\nwith a default, then writes .ralph/settings.json. Ctrl+C writes nothing.",
      "ralph init",
      "ralph init --yes",
      "ralph init --prompt",
    ],
    run: async (flags) => (await import("../commands/init.js")).init(flags),
  }),
  row("template", "print a first PROMPT.md", {
    help: ["Prints what ralph init --prompt writes.", "ralph template > PROMPT.md"],
    run: async () => (await import("../commands/init.js")).template(),
  }),
  row("doctor", "check whether ralph can work here, and say what is missing", {
    flags: SHOW,
    help: [
      `Checks the settings, git, the system, the sandboxes and the agents. Reads no
secrets: it looks only for names of variables and for login files.
Exits 1 if there is a problem, 0 if there are only warnings.`,
      "ralph doctor",
      "ralph doctor --json",
    ],
    run: async (flags) => (await import("../commands/doctor.js")).doctor(flags),
  }),
];

const READ_COMMANDS = [
  row("runs", "list the runs", {
    flags: [
      flag("-n, --count <n>", "list this many runs (default: 20)"),
      flag("--all", "list all runs"),
      flag("--since <duration>", "list only runs that started within this time, such as 2d or 12h"),
      flag("--status <status>", STATUS_HELP),
      flag("--json", "print JSON: all runs, oldest first"),
    ],
    help: [
      `Lists the runs of this folder first, then the others, newest first. The totals
count every run that matches --since and --status, listed or not.`,
      "ralph runs",
      "ralph runs --since 7d",
      "ralph runs --status failed,stopped",
      "ralph runs --json",
    ],
    run: async (flags) => (await import("../commands/runs.js")).runs(flags),
  }),
  row("report [loop]", "show the result of a run", {
    args: { loop: "name or id of a run or a worker, or last" },
    flags: [
      ...SHOW,
      flag("--markdown", "print Markdown"),
      flag("--html <file>", "write one self-contained page (-: stdout)"),
    ],
    help: [
      "Without LOOP: the latest run of this folder. The beginning of an id is enough.",
      "ralph report",
      "ralph report --markdown",
      "ralph report --html report.html",
    ],
    run: async (name, flags) => (await import("../commands/report.js")).report(name, flags),
  }),
  row("verify [receipt]", "run the checks of a receipt again, and compare", {
    args: {
      receipt: "a receipt.json, the name or id of a run, or - for stdin (default: the latest run here)",
    },
    flags: [
      flag("--repo <dir>", "a clone that has the commit (default: this folder, or that of the run)"),
      many(
        "--hidden-check <command>",
        "a hidden check of the run: receipts do not contain its command (repeatable)",
      ),
      flag("--schema", "print the JSON Schema of receipts"),
      ...SHOW,
    ],
    help: [
      `Checks out the verified commit into a temporary folder, runs setup and the checks
there with only PATH of your environment, and removes the folder. It runs the
commands in the receipt: trust them as you would trust the tests of that commit.
Exits 0 if the results are the same, 1 if one differs or the receipt was changed,
2 if it cannot be checked.`,
      "ralph verify",
      "ralph verify last",
    ],
    run: async (given, flags) => (await import("../commands/verify.js")).verify(given, flags),
  }),
  row("ui", "see, answer and steer all runs in a browser", {
    flags: [
      flag("--port <port>", "listen on this port; 0: any free port (default: 7171)"),
      flag("--host <address>", "listen on this address (default: 127.0.0.1); another one needs --token-file"),
      flag("--token-file <file>", "also let in browsers that know the secret in this file"),
      flag("--read-only", "show everything and change nothing"),
      flag("--no-open", "print the link and open no browser"),
    ],
    help: [
      `Prints a link that lets one browser in, once. Ctrl+C ends the dashboard, not the
runs. Over ssh it prints the command that forwards the port to your machine.`,
      "ralph ui",
      "ralph ui --port 8080 --read-only",
    ],
    run: async (flags) => (await import("../commands/ui.js")).ui(flags),
  }),
  row("costs", "show what the agents cost, by day, agent or project", {
    flags: [
      flag("--since <duration>", "count the calls of this time, such as 12h or 7d (default: 30d)"),
      flag("--by <what>", "group by day, agent or project (default: day)"),
      JSON_DOCUMENT,
    ],
    help: [
      "If an agent does not report its cost, ralph shows it as unknown, not as 0.",
      "ralph costs",
      "ralph costs --since 7d --by agent",
      "ralph costs --by project --json",
    ],
    run: async (flags) => (await import("../commands/runs.js")).costs(flags),
  }),
  row("guard <command>", "ask the guard whether an agent may run a command", {
    flags: SHOW,
    help: [
      `Runs nothing. Exits 0 if the guard allows the command and 1 if it refuses;
- reads the command from stdin. Lines in ralph/allowed-commands.txt are exceptions.
The guard is a seat belt, not a sandbox: it stops accidents and common tricks,
but not an agent that is determined to get past it.`,
      'ralph guard "npm test"',
      'ralph guard "git reset --hard" --json',
      "echo 'rm -rf build' | ralph guard -",
    ],
    run: async (given, flags) => (await import("../commands/guard.js")).guard(given, flags),
  }),
  row("config", "show the settings in force, or change one of them", {
    flags: [JSON_DOCUMENT, flag("--schema", "print the JSON Schema of the settings"), CONFIG],
    help: [
      "Shows each setting and the file that sets it. Secrets are not shown.",
      "ralph config",
      "ralph config get checks",
      "ralph config set maxCost 5",
      "ralph config --schema",
    ],
    run: async (flags) => (await import("../commands/config.js")).config(flags),
    commands: [
      row("get <key>", "show one setting", {
        flags: [JSON_DOCUMENT, CONFIG],
        help: [
          "Exits 1 if no file sets it.",
          "ralph config get checks",
          "ralph config get completionResponse",
        ],
        run: async (key, flags) => (await import("../commands/config.js")).get(key, flags),
      }),
      row("set <key> <value>", "change one setting in .ralph/settings.json", {
        args: { value: "a text, a number, or JSON; null switches off what a lower file sets" },
        flags: [
          flag("--local", "write .ralph/settings.local.json, which applies to you alone"),
          flag("--user", "write ~/.ralph/settings.json, which applies to all your projects"),
        ],
        help: [
          "Keeps the comments in the file. Exits 2 if the settings do not allow the value.",
          "ralph config set maxCost 5",
          `ralph config set checks '["npm test", "npm run lint"]'`,
          "ralph config set agent.command codex --user",
        ],
        run: async (key, value, flags) => (await import("../commands/config.js")).set(key, value, flags),
      }),
    ],
  }),
  row("hook [name]", "answer a hook of Claude Code or Codex", {
    args: { name: ["stop", "context", "pre-tool-use", "session-start"] },
    flags: [flag("--loop <url>", "address of the loop that started the agent")],
    help: [
      `Agents call this: JSON on stdin, JSON on stdout. A hook that fails never stops
the agent. A loop sets up its own agents; the plugin is for your own sessions.
  stop           keeps an agent from stopping while its stories are out of order
  context        warns an agent when its context fills up
  pre-tool-use   refuses what the guard refuses (see ralph guard --help)
  session-start  resets the warnings of a session`,
      'echo \'{"session_id":"1"}\' | ralph hook context',
    ],
    run: async (name, flags) => (await import("../commands/hook.js")).hook(name, flags),
  }),
  row("completion [shell]", "print a script that completes commands in your shell", {
    args: { shell: ["bash", "zsh", "fish"] },
    help: [
      `Add this line to the start-up file of your shell:
  ~/.bashrc                   eval "$(ralph completion bash)"
  ~/.zshrc                    source <(ralph completion zsh)
  ~/.config/fish/config.fish  ralph completion fish | source`,
      "ralph completion bash",
    ],
    run: async (shell) => (await import("../commands/completion.js")).completion(shell),
  }),
  // Asked by the scripts of `ralph completion` at each Tab.
  row("complete [words...]", "", {
    isHidden: true,
    takesAnything: true,
    run: async (words, _, command) =>
      (await import("../commands/completion.js")).complete(async (sources) =>
        (await import("./candidates.js")).candidates(command.parent, words, sources),
      ),
  }),
];

/** Every command but `help`, under the headings of the help. */
export const COMMANDS = {
  "Start:": START,
  "Run:": RUN_COMMANDS,
  "Review and land:": WORK_COMMANDS,
  "Workers:": WORKER_COMMANDS,
  "Fleet:": FLEET_COMMANDS,
  "GitHub:": PULL_REQUESTS,
  "Results and settings:": READ_COMMANDS,
};
