import { row } from "./build.js";
import { CONFIG, flag, JSON_DOCUMENT, LOOK, OUTPUT } from "./flags.js";
import { RUN_COMMANDS } from "./recipes.js";
import { WORKER_COMMANDS } from "./workers.js";

const START = [
  row("demo", "watch a loop work on a small project, with a scripted agent", {
    flags: [flag("--keep", "leave the project, the records and the report behind"), ...OUTPUT],
    help: ["Takes some seconds. Needs git; no agent, no key, no network.", "ralph demo", "ralph demo --keep"],
    run: async (flags) => (await import("../commands/demo.js")).demo(flags),
  }),
  row("init", "make the settings of this project, or a first PROMPT.md", {
    flags: [
      flag("-y, --yes", "write the defaults for what was found, without asking"),
      flag("--agent <name>", "with --yes: the agent"),
      flag("--prompt", "write PROMPT.md in place of the settings"),
      flag("--force", "overwrite what is there (with --prompt or --yes)"),
    ],
    help: [
      "Asks for the agent, the guardrails and the SCM tasks, and writes .ralph/settings.json.\nCtrl+C writes nothing.",
      "ralph init",
      "ralph init --yes",
      "ralph init --prompt",
    ],
    run: async (flags) => (await import("../commands/init.js")).init(flags),
  }),
  row("template", "print a first PROMPT.md", {
    help: ["The same text as ralph init --prompt writes.", "ralph template > PROMPT.md"],
    run: async () => (await import("../commands/template.js")).template(),
  }),
  row("doctor", "tell whether ralph can work here, and what to do where it can't", {
    flags: [...LOOK, flag("--json", "one JSON document on stdout")],
    help: [
      `Looks at the settings, git, the system, sandboxes and agents. Secrets are not
read: only the names of variables and the existence of login files are told.
Exits 1 when there is a problem, and 0 when there are at most warnings.`,
      "ralph doctor",
      "ralph doctor --json",
    ],
    run: async (flags) => (await import("../commands/doctor.js")).doctor(flags),
  }),
];

const LOOKS = [
  row("runs", "list the runs", {
    flags: [flag("--json", "as JSON, all of them"), flag("--all", "also those before the latest thousand")],
    help: ["The oldest first.", "ralph runs", "ralph runs --json"],
    run: async (flags) => (await import("../commands/runs.js")).runs(flags),
  }),
  row("report [loop]", "show what a run came to", {
    args: { loop: "id of a run, or name of a worker" },
    flags: [
      ...LOOK,
      JSON_DOCUMENT,
      flag("--markdown", "as Markdown"),
      flag("--html <file>", "write one self-contained page (-: to stdout)"),
    ],
    help: [
      "Without LOOP: the latest run of this folder. The beginning of an id is enough.",
      "ralph report",
      "ralph report --markdown",
      "ralph report --html report.html",
    ],
    run: async (name, flags) => (await import("../commands/report.js")).report(name, flags),
  }),
  row("guard <command>", "tell whether the guard would let a command run, and why not", {
    flags: [...LOOK, flag("--json", "one JSON document on stdout")],
    help: [
      `Nothing is run. Exits 0 when the command would run and 1 when it is refused;
- takes it from stdin. Lines in ralph/allowed-commands.txt are exceptions.
The guard is a seat belt, not a sandbox: it stops accidents and the usual
tricks, and nobody who means to get past it.`,
      'ralph guard "npm test"',
      'ralph guard "git reset --hard" --json',
      "echo 'rm -rf build' | ralph guard -",
    ],
    run: async (given, flags) => (await import("../commands/guard.js")).guard(given, flags),
  }),
  row("config", "show the settings in force and where each comes from", {
    flags: [JSON_DOCUMENT, flag("--schema", "print the JSON Schema of the settings file"), CONFIG],
    help: ["Secrets are not shown.", "ralph config", "ralph config --schema"],
    run: async (flags) => (await import("../commands/config.js")).config(flags),
  }),
  row("hook [name]", "answer a hook of Claude Code or Codex", {
    args: { name: ["stop", "context", "pre-tool-use", "session-start"] },
    flags: [flag("--loop <url>", "where the loop that started the agent answers")],
    help: [
      `Agents call this: JSON on stdin, JSON on stdout. Whatever goes wrong, the agent
goes on. A loop sets its agents up itself; the plugin is for your own sessions.
  stop           keeps an agent at work while its stories are not in order
  context        tells an agent when its context fills up
  pre-tool-use   refuses what the guard refuses (see ralph guard --help)
  session-start  lets the alerts of a session count anew`,
      'echo \'{"session_id":"1"}\' | ralph hook context',
    ],
    run: async (name, flags) => (await import("../commands/hook.js")).hook(name, flags),
  }),
  row("completion [shell]", "print a script that completes ralph's commands in your shell", {
    args: { shell: ["bash", "zsh", "fish"] },
    help: [
      `The line for the start-up file of each shell:
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
  "Workers:": WORKER_COMMANDS,
  "Look:": LOOKS,
};
