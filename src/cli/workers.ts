import { row } from "./build.js";
import {
  agentFlags,
  CHECKS,
  COMPLETION,
  CONFIG,
  flag,
  JSON_DOCUMENT,
  many,
  nets,
  OUTPUT,
  PROOF,
  STATUS_HELP,
  STYLE,
  WORKTREE,
} from "./flags.js";
import { LOOP_COMMANDS } from "./recipes.js";

const LOOP = { loop: "name or id of a run or a worker, or last (default: the run of this folder)" };

/** `ralph spawn` and what is done with the workers that it starts. */
export const WORKER_COMMANDS = [
  row("spawn [words...]", "start a loop in a window of tmux and leave it there", {
    args: { words: "run, loop, stories run or pipeline run with its flags; or -- and the agent's command" },
    passesThrough: true,
    flags: [
      flag("--name <name>", "what the worker is called (required)"),
      flag("--ralph", "accepted, and nothing else: every worker is a loop"),
      flag("--prompt-file <file>", "file with the prompt, read anew for each iteration"),
      ...COMPLETION,
      ...CHECKS,
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
      ...PROOF,
    ],
    help: [
      `A known agent works headless, as in ralph run -f: the loop ends when every check
passes and the agent says that it is done. Any other command gets the window's
terminal, nothing verifies its work, and the loop ends when it says the done pattern.
Both end after --max-iterations, which is required. Silence is allowed for 900 s, on
the terminal for 60 s.`,
      "ralph spawn --name docs --prompt-file PROMPT.md --max-iterations 20 -- claude",
      'ralph spawn --name auth loop "add JWT" --check "npm test"',
      'ralph spawn --name tidy --prompt-file PROMPT.md -n 5 --done-pattern "All tasks complete" -- bash -c "cat; date"',
    ],
    run: async (words, flags) => (await import("../commands/spawn.js")).spawn(words, flags, LOOP_COMMANDS),
  }),
  // What the window of a worker without a loop command runs.
  row("repeat [command...]", "", {
    isHidden: true,
    flags: [
      flag("--prompt-file <file>"),
      ...COMPLETION,
      ...CHECKS,
      flag("--prompt-via <way>"),
      WORKTREE,
      CONFIG,
      ...agentFlags(),
      ...nets(),
      ...PROOF,
      ...OUTPUT,
    ],
    run: async (words, flags) => (await import("../commands/task.js")).repeat(words, flags),
  }),
  row("ls", "list the workers, and the runs of today", {
    flags: [
      flag("--format <format>", "table, json or names (default: table)"),
      flag("--status <status>", STATUS_HELP),
      flag("--tag <tag>", "those with this tag"),
    ],
    help: [
      "Runs are listed until a day after their end; ralph runs lists all of them.",
      "ralph ls",
      "ralph ls --status done",
      "ralph ls --format json",
    ],
    run: async (flags) => (await import("../commands/status.js")).ls(flags),
  }),
  row("watch", "watch all workers and runs on a live screen", {
    flags: STYLE,
    help: [
      "The selected one is shown live. Keys answer, steer, pause, resume, kill and show\nits report, diff and log; ? lists them, q leaves.",
      "ralph watch",
    ],
    run: async (flags) => (await import("../commands/watch.js")).watch(flags),
  }),
  row("status [loop]", "show how a run or a worker is doing", {
    args: LOOP,
    flags: [JSON_DOCUMENT],
    help: [
      "Exits 0 while it runs or is paused, 1 when it has ended, 2 when nobody knows.",
      "ralph status",
      "ralph status docs",
    ],
    run: async (name, flags) => (await import("../commands/status.js")).status(name, flags),
  }),
  row("logs [loop]", "show what a run or a worker printed", {
    args: LOOP,
    flags: [
      flag("-f, --follow", "go on as it comes, until the loop ends"),
      flag("--lines <n>", "lines from the end (default: 100)"),
      flag("--events", "what happened to the iterations, without what the agent said"),
      ...STYLE,
    ],
    help: ["Ctrl+C ends the look, not the loop.", "ralph logs", "ralph logs docs --events"],
    run: async (name, flags) => (await import("../commands/follow.js")).logs(name, flags),
  }),
  row("attach [loop]", "show a worker's window in this terminal", {
    args: LOOP,
    help: [
      "Ctrl+B D leaves it as it is. A run has no window: ralph logs --follow shows it live.",
      "ralph attach docs",
    ],
    run: async (name) => (await import("../commands/control.js")).attach(name),
  }),
  row("send [loop] <text>", "type into the terminal of a worker's agent", {
    args: LOOP,
    help: [
      "For agents that have the window's terminal; ralph steer reaches every other one.",
      'ralph send tidy "yes"',
    ],
    run: async (name, text) => (await import("../commands/control.js")).send(name, text),
  }),
  row("steer [loop] <text>", "tell the next iteration something, once", {
    args: LOOP,
    help: [
      "The text stands at the end of the prompt.",
      'ralph steer "Leave the API alone."',
      'ralph steer docs "Leave the API alone."',
    ],
    run: async (name, text) => (await import("../commands/control.js")).steer(name, text),
  }),
  row("answer [loop] <text>", "answer what an agent asked when its run stopped as blocked", {
    args: LOOP,
    help: [
      "Without LOOP: the latest run of this folder that asks. ralph resume goes on, with the answer in the prompt.",
      'ralph answer "Use SQLite."',
      'ralph answer calm-otter "Use SQLite."',
    ],
    run: async (name, text) => (await import("../commands/control.js")).answer(name, text),
  }),
  row("interrupt [loop]", "Ctrl+C for the agent at work; its loop goes on", {
    args: LOOP,
    help: ["The iteration has failed then, and the next one starts.", "ralph interrupt docs"],
    run: async (name) => (await import("../commands/control.js")).interrupt(name),
  }),
  row("kill [loop...]", "end runs or workers and all that they started", {
    args: { loop: "names or ids of runs and workers, or last (default: the run that runs in this folder)" },
    flags: [flag("--rm-worktree", "remove its worktree, if nothing in it is uncommitted")],
    help: ["What they made stays.", "ralph kill", "ralph kill docs"],
    run: async (names, flags) => (await import("../commands/control.js")).kill(names, flags),
  }),
  row("wait [loop]", "wait until a run or a worker has ended", {
    args: LOOP,
    flags: [flag("--timeout <duration>", "wait no longer, and exit 124")],
    help: ["Exits as the loop did.", "ralph wait", "ralph wait docs --timeout 10m"],
    run: async (name, flags) => (await import("../commands/follow.js")).wait(name, flags),
  }),
  row("clean [worker...]", "forget workers that have ended, or remove worktrees and records", {
    flags: [
      flag("--worktrees", "remove the worktrees of this repository whose work is landed"),
      flag("--runs", "remove the records of runs that have ended (default: those older than 30d)"),
      flag("--older-than <duration>", "only what is older, such as 30d or 12h"),
      flag("--force", "also worktrees whose work is not landed"),
      flag("-y, --yes", "remove it: without this flag, it is only shown"),
    ],
    help: [
      `Without WORKER: all of them. Their runs keep their records. With --worktrees or
--runs, shows what would go and removes it with --yes. What a run is at work in stays.`,
      "ralph clean",
      "ralph clean --worktrees",
      "ralph clean --worktrees --runs --older-than 30d --yes",
    ],
    run: async (names, flags) =>
      Object.keys(flags).length === 0
        ? (await import("../commands/control.js")).clean(names)
        : (await import("../commands/worktrees.js")).cleanDisk(names, flags),
  }),
];
