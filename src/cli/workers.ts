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

/** `ralph spawn`, and the commands for its workers. */
export const WORKER_COMMANDS = [
  row("spawn [words...]", "start a loop in the background, in a tmux window", {
    args: { words: "run, loop, stories run or pipeline run with its flags; or -- and the agent's command" },
    passesThrough: true,
    flags: [
      flag("--name <name>", "name of the worker (required)"),
      flag("--ralph", "accepted for older scripts; every worker is a loop"),
      flag("--prompt-file <file>", "file with the prompt; ralph reads it before each iteration"),
      ...COMPLETION,
      ...CHECKS,
      flag("--prompt-via <way>", "how a command in the terminal gets the prompt (default: stdin)", {
        choices: ["stdin", "keys"],
      }),
      flag("--worktree [name]", "work in a new git worktree (default: the name of the worker)"),
      CONFIG,
      many("--tag <tag>", "tag the worker, to find it by (repeatable)"),
      many("--env <name=value>", "set a variable for the loop and its agent (repeatable)"),
      flag("--cwd <dir>", "work in this folder (default: the current one)"),
      flag("--session <name>", "tmux session (default: ralph)"),
      flag("--tmux-socket <name>", "tmux server (default: one for ralph alone)"),
      ...agentFlags(),
      ...nets({ maxIterations: null }),
      ...PROOF,
    ],
    help: [
      `A known agent works headless, as in ralph run -f: the loop ends when every check
passes and the agent says that it is done. Any other command runs in the window's
terminal; nothing verifies its work, and the loop ends when it prints the done
pattern. Both end after --max-iterations, which is required. ralph ends an agent
that does nothing for 900 s, in the terminal for 60 s.`,
      "ralph spawn --name docs --prompt-file PROMPT.md --max-iterations 20 -- claude",
      'ralph spawn --name auth loop "add JWT" --check "npm test"',
      'ralph spawn --name tidy --prompt-file PROMPT.md -n 5 --done-pattern "All tasks complete" -- bash -c "cat; date"',
    ],
    run: async (words, flags) => (await import("../commands/spawn.js")).spawn(words, flags, LOOP_COMMANDS),
  }),
  // The window of a bare command runs this.
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
      flag("--tag <tag>", "list only workers with this tag"),
    ],
    help: [
      "Lists all workers, and the latest 20 runs until a day after their end; with --status, all runs of that day that match. ralph runs lists the older ones, too.",
      "ralph ls",
      "ralph ls --status done",
      "ralph ls --format json",
    ],
    run: async (flags) => (await import("../commands/status.js")).ls(flags),
  }),
  row("watch", "watch all workers and runs on a live screen", {
    flags: STYLE,
    help: [
      "Shows the selected one live. Keys answer, steer, pause, resume and kill it, and open\nits report, diff and log; ? lists the keys, q leaves.",
      "ralph watch",
    ],
    run: async (flags) => (await import("../commands/watch.js")).watch(flags),
  }),
  row("status [loop]", "show how a run or a worker is doing", {
    args: LOOP,
    flags: [JSON_DOCUMENT],
    help: [
      "Exits 0 while it runs or is paused, 1 when it has ended, 2 when its state is unknown.",
      "ralph status",
      "ralph status docs",
    ],
    run: async (name, flags) => (await import("../commands/status.js")).status(name, flags),
  }),
  row("logs [loop]", "show what a run or a worker printed", {
    args: LOOP,
    flags: [
      flag("-f, --follow", "print new output until the loop ends"),
      flag("--lines <n>", "print this many lines from the end (default: 100)"),
      flag("--events", "print what happened to the iterations, not what the agent said"),
      ...STYLE,
    ],
    help: ["Ctrl+C ends ralph logs, not the loop.", "ralph logs", "ralph logs docs --events"],
    run: async (name, flags) => (await import("../commands/follow.js")).logs(name, flags),
  }),
  row("attach [loop]", "show a worker's window in this terminal", {
    args: LOOP,
    help: [
      "Ctrl+B D leaves the window; the loop continues. A run has no window:\nralph logs --follow shows it live.",
      "ralph attach docs",
    ],
    run: async (name) => (await import("../commands/control.js")).attach(name),
  }),
  row("send [loop] <text>", "type into the terminal of a worker's agent", {
    args: { ...LOOP, text: "what to type" },
    help: [
      "For agents that run in the window's terminal; for all others use ralph steer.",
      'ralph send tidy "yes"',
    ],
    run: async (name, text) => (await import("../commands/control.js")).send(name, text),
  }),
  row("steer [loop] <text>", "add a text to the next prompt, once", {
    args: { ...LOOP, text: "what to tell the agent" },
    help: [
      "ralph adds the text to the end of the prompt.",
      'ralph steer "Leave the API alone."',
      'ralph steer docs "Leave the API alone."',
    ],
    run: async (name, text) => (await import("../commands/control.js")).steer(name, text),
  }),
  row("answer [loop] <text>", "answer the question that blocks a run", {
    args: { ...LOOP, text: "the answer" },
    help: [
      "Without LOOP: the latest blocked run of this folder. ralph resume continues it, with\nthe answer in the prompt.",
      'ralph answer "Use SQLite."',
      'ralph answer calm-otter "Use SQLite."',
    ],
    run: async (name, text) => (await import("../commands/control.js")).answer(name, text),
  }),
  row("interrupt [loop]", "interrupt the agent; its loop continues", {
    args: LOOP,
    help: ["The iteration counts as failed, and the next one starts.", "ralph interrupt docs"],
    run: async (name) => (await import("../commands/control.js")).interrupt(name),
  }),
  row("kill [loop...]", "end runs or workers, with everything they started", {
    args: { loop: "names or ids of runs and workers, or last (default: the active run of this folder)" },
    flags: [flag("--rm-worktree", "also remove its worktree, unless something in it is uncommitted")],
    help: ["Files, branches and records stay.", "ralph kill", "ralph kill docs"],
    run: async (names, flags) => (await import("../commands/control.js")).kill(names, flags),
  }),
  row("wait [loop]", "wait until a run or a worker has ended", {
    args: LOOP,
    flags: [flag("--timeout <duration>", "give up after this time, with exit 124")],
    help: ["Exits with the exit code of the loop.", "ralph wait", "ralph wait docs --timeout 10m"],
    run: async (name, flags) => (await import("../commands/follow.js")).wait(name, flags),
  }),
  row("clean [worker...]", "forget workers that have ended, or remove worktrees and records", {
    flags: [
      flag("--worktrees", "remove the worktrees of this repository whose work is landed"),
      flag("--runs", "remove the records of runs that have ended (default: those older than 30d)"),
      flag("--older-than <duration>", "only what is older, such as 30d or 12h"),
      flag("--force", "also work that is not landed, and its records"),
      flag("-y, --yes", "remove them; without this flag ralph only lists them"),
    ],
    help: [
      `Without WORKER: all workers that have ended. Their runs keep their records. With
--worktrees or --runs: lists what ralph would remove; --yes removes it. A worktree
that a loop is using stays.`,
      "ralph clean",
      "ralph clean --worktrees",
      "ralph clean --worktrees --runs --older-than 30d --yes",
    ],
    run: async (names, flags) =>
      Object.keys(flags).length === 0
        ? (await import("../commands/control.js")).clean(names)
        : (await import("../commands/work.js")).cleanDisk(names, flags),
  }),
];
