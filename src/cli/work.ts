import { row } from "./build.js";
import { flag, HIDDEN_AGAIN, JSON_DOCUMENT } from "./flags.js";

const RUN = { run: "name or id of a run or a worker, or last (default: the latest run of this folder)" };

/** What is done with the work of a run. */
export const WORK_COMMANDS = [
  row("diff [run]", "show what a run changed", {
    args: RUN,
    flags: [
      flag("--stat", "only how many lines of which files"),
      flag("--iteration <n>", "what that iteration changed"),
      flag("--no-color", "no colours"),
    ],
    help: [
      `New files are included, what git ignores is not. Works while the run is at work and
after its worktree is gone. In a terminal it is paged as git pages a diff.`,
      "ralph diff",
      "ralph diff calm-otter --stat",
      "ralph diff --iteration 1",
    ],
    run: async (name, flags) => (await import("../commands/diff.js")).diff(name, flags),
  }),
  row("worktrees", "list the worktrees that ralph made beside this repository", {
    flags: [JSON_DOCUMENT],
    help: [
      "With the run, the branch, how the run ended, the size, and the branch that has the work.\nralph clean --worktrees removes those whose work is landed.",
      "ralph worktrees",
      "ralph worktrees --json",
    ],
    run: async (flags) => (await import("../commands/worktrees.js")).worktrees(flags),
  }),
  row("land [run]", "bring the work of a finished run into your branch", {
    args: RUN,
    flags: [
      flag("--into <branch>", "the branch (default: the one that the run was started from)"),
      flag("--squash", "one commit in place of a merge"),
      flag("--keep", "leave the worktree and the branch of the run"),
      flag("--allow-unverified", "land a run that no check verifies"),
      HIDDEN_AGAIN,
      flag("--json", "print one event per line on stdout"),
    ],
    help: [
      `Merges in a worktree of ralph's own, runs the checks of the run on the merge commit,
twice, and moves the branch if nobody else has moved it meanwhile. Your files are
touched only if the branch is checked out, and only where nothing of yours is in the
way. Then the worktree and the branch of the run are removed. Exits 1 if the merge
conflicts or its checks fail, 2 if it cannot begin or your files are in the way.`,
      "ralph land",
      "ralph land calm-otter --into develop",
      "ralph land --squash --keep",
    ],
    run: async (name, flags) => (await import("../commands/land.js")).landCommand(name, flags),
  }),
];
