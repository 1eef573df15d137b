import { row } from "./build.js";
import { flag, HIDDEN_AGAIN, JSON_DOCUMENT } from "./flags.js";

const RUN = { run: "name or id of a run or a worker, or last (default: the latest run of this folder)" };

/** Commands for the work of a run. */
export const WORK_COMMANDS = [
  row("diff [run]", "show what a run changed", {
    args: RUN,
    flags: [
      flag("--stat", "show only the files and the number of lines"),
      flag("--iteration <n>", "show what this iteration changed"),
      flag("--no-color", "print no colours"),
    ],
    help: [
      `Includes new files, but not what git ignores. Works during the run, and after its
worktree is gone. In a terminal, opens the pager of git.`,
      "ralph diff",
      "ralph diff calm-otter --stat",
      "ralph diff --iteration 1",
    ],
    run: async (name, flags) => (await import("../commands/diff.js")).diff(name, flags),
  }),
  row("worktrees", "list the worktrees that ralph made beside this repository", {
    flags: [JSON_DOCUMENT],
    help: [
      "Shows the run, its branch, how it ended, the size, and where its work has landed.\nralph clean --worktrees removes those whose work has landed.",
      "ralph worktrees",
      "ralph worktrees --json",
    ],
    run: async (flags) => (await import("../commands/worktrees.js")).worktrees(flags),
  }),
  row("land [run]", "bring the work of a finished run into your branch", {
    args: RUN,
    flags: [
      flag("--into <branch>", "land in this branch (default: the one that the run started from)"),
      flag("--squash", "make one commit instead of a merge"),
      flag("--keep", "keep the worktree and the branch of the run"),
      flag("--allow-unverified", "land a run that no check verifies"),
      HIDDEN_AGAIN,
      flag("--json", "print one event per line on stdout"),
    ],
    help: [
      `Merges in a temporary worktree, runs the checks of the run twice on the merge
commit, and moves the branch only if nothing else has moved it. If the branch is
checked out, updates its files, but never overwrites yours. Then removes the
worktree and the branch of the run. Exits 1 if the merge conflicts or its checks
fail, 2 if it cannot start or your files are in the way.`,
      "ralph land",
      "ralph land calm-otter --into develop",
      "ralph land --squash --keep",
    ],
    run: async (name, flags) => (await import("../commands/land.js")).landCommand(name, flags),
  }),
];
