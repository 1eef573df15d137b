import { givenOnly, row } from "./build.js";
import { agentFlags, CONFIG, flag, JSON_DOCUMENT, LOOK, many, nets, OUTPUT, WORKTREE } from "./flags.js";
import { LOOP_COMMANDS } from "./recipes.js";

const LOOP = { loop: "name of a worker, or id of a run" };

/** `ralph spawn` and what is done with the workers that it starts. */
export const WORKER_COMMANDS = [
  row("spawn [words...]", "start a loop in a window of tmux and leave it there", {
    args: {
      words: "run, loop, stories run or pipeline run with its flags; or -- and the agent's command",
    },
    passesThrough: true,
    flags: [
      flag("--name <name>", "what the worker is called (required)"),
      flag("--ralph", "accepted, and nothing else: every worker is a loop"),
      flag("--prompt-file <file>", "file with the prompt, read anew for each iteration"),
      flag("--done-pattern <regex>", "stop when the agent says something that matches"),
      flag("--prompt-via <way>", "how a command on the terminal gets the prompt (default: stdin)", {
        choices: ["stdin", "keys"],
      }),
      flag("--worktree [name]", "work in a git worktree of its own (default: called as the worker)"),
      CONFIG,
      many("--tag <tag>", "a word to find it by (repeatable)"),
      many("--env <name=value>", "a variable for the loop and its agent (repeatable)"),
      flag("--cwd <dir>", "the folder to work in (default: this one)"),
      flag("--session <name>", "session of tmux (default: ralph)"),
      flag("--tmux-socket <name>", "server of tmux (default: one for ralph alone)"),
      ...agentFlags(),
      ...nets({ maxIterations: null }),
    ],
    help: [
      `A known agent works headless and its steps are shown in the window; any other
command gets the window's terminal. The loop ends when the agent says the done
pattern, or after --max-iterations, which is required. Silence is allowed for 900 s,
on the terminal for 60 s.`,
      "ralph spawn --name docs --prompt-file PROMPT.md --max-iterations 20 -- claude",
      'ralph spawn --name auth loop "add JWT" --check "npm test"',
      'ralph spawn --name tidy --prompt-file PROMPT.md -n 5 --done-pattern "All tasks complete" -- bash -c "cat; date"',
    ],
    run: async (words, flags, command) =>
      (await import("../commands/spawn.js")).spawn(words, givenOnly(command, flags), LOOP_COMMANDS),
  }),
  // What the window of a worker without a loop command runs.
  row("repeat [command...]", "", {
    isHidden: true,
    flags: [
      flag("--prompt-file <file>"),
      flag("--done-pattern <regex>"),
      flag("--prompt-via <way>"),
      WORKTREE,
      CONFIG,
      ...agentFlags(),
      ...nets(),
      ...OUTPUT,
    ],
    run: async (words, flags) => (await import("../commands/task.js")).repeat(words, flags),
  }),
  row("ls", "list the workers, and the runs that are at work", {
    flags: [
      flag("--format <format>", "table, json or names (default: table)"),
      flag("--status <status>", "those that are running, paused, stopped, failed, crashed or unknown"),
      flag("--tag <tag>", "those with this tag"),
    ],
    help: ["ralph runs lists what has ended, too.", "ralph ls", "ralph ls --format json"],
    run: async (flags) => (await import("../commands/ls.js")).ls(flags),
  }),
  row("watch", "watch all workers and runs on a live screen", {
    flags: LOOK,
    help: ["Keys attach, pause, resume, kill and show logs; ? lists them, q leaves.", "ralph watch"],
    run: async (flags) => (await import("../commands/watch.js")).watch(flags),
  }),
  row("status <loop>", "show where a worker stands", {
    args: LOOP,
    flags: [JSON_DOCUMENT],
    help: [
      "Exits 0 while it runs or is paused, 1 when it has ended, 2 when nobody knows.",
      "ralph status docs",
    ],
    run: async (name, flags) => (await import("../commands/status.js")).status(name, flags),
  }),
  row("logs <worker>", "show what a worker printed", {
    flags: [
      flag("-f, --follow", "go on as it comes, until the loop ends"),
      flag("--lines <n>", "lines from the end (default: 100)"),
      flag("--events", "the log of the iterations in place of the output"),
    ],
    help: ["Ctrl+C ends the look, not the worker.", "ralph logs docs", "ralph logs docs --events"],
    run: async (name, flags) => (await import("../commands/logs.js")).logs(name, flags),
  }),
  row("attach <worker>", "show a worker's window in this terminal", {
    help: ["Ctrl+B D leaves it as it is.", "ralph attach docs"],
    run: async (name) => (await import("../commands/window.js")).attach(name),
  }),
  row("send <worker> <text>", "type into the terminal of a worker's agent", {
    help: ["For agents that have the window's terminal.", 'ralph send tidy "yes"'],
    run: async (name, text) => (await import("../commands/window.js")).send(name, text),
  }),
  row("steer <loop> <text>", "tell the next iteration something, once", {
    args: LOOP,
    help: [
      "For workers and for runs. The text stands at the end of the prompt.",
      'ralph steer docs "Leave the API alone."',
    ],
    run: async (name, text) => (await import("../commands/tell.js")).steer(name, text),
  }),
  row("answer <run> <text>", "answer what an agent asked when its run stopped as blocked", {
    help: [
      "For runs and for workers. ralph resume goes on, with the answer in the prompt.",
      'ralph answer 20260126-185500-042f9a "Use SQLite."',
    ],
    run: async (name, text) => (await import("../commands/tell.js")).answer(name, text),
  }),
  row("interrupt <worker>", "Ctrl+C for the agent at work; its loop goes on", {
    help: ["The iteration has failed then, and the next one starts.", "ralph interrupt docs"],
    run: async (name) => (await import("../commands/window.js")).interrupt(name),
  }),
  row("kill <loop...>", "end a worker and all that it started", {
    args: { loop: "names of workers, or ids of runs" },
    flags: [flag("--rm-worktree", "remove its worktree, if nothing in it is uncommitted")],
    help: ["What it made stays. A run is ended by its id.", "ralph kill docs"],
    run: async (names, flags) => (await import("../commands/kill.js")).kill(names, flags),
  }),
  row("wait <worker>", "wait until a worker's loop has ended", {
    flags: [flag("--timeout <duration>", "wait no longer, and exit 124")],
    help: ["Exits as the loop did.", "ralph wait docs", "ralph wait docs --timeout 10m"],
    run: async (name, flags) => (await import("../commands/wait.js")).wait(name, flags),
  }),
  row("clean [worker...]", "forget workers that have ended", {
    help: ["Without WORKER: all of them. Their runs keep their records.", "ralph clean"],
    run: async (names) => (await import("../commands/kill.js")).clean(names),
  }),
];
