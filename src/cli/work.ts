import { row } from "./build.js";
import { CHECKS, CONFIG, flag, HIDDEN_AGAIN, JSON_DOCUMENT, many, SHOW, STYLE, startFlags } from "./flags.js";

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
    run: async (name, flags) => (await import("../commands/work.js")).diff(name, flags),
  }),
  row("worktrees", "list the worktrees that ralph made beside this repository", {
    flags: [JSON_DOCUMENT],
    help: [
      "Shows the run, its branch, how it ended, the size, and where its work has landed.\nralph clean --worktrees removes those whose work has landed.",
      "ralph worktrees",
      "ralph worktrees --json",
    ],
    run: async (flags) => (await import("../commands/work.js")).worktrees(flags),
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
    run: async (name, flags) => (await import("../commands/work.js")).landCommand(name, flags),
  }),
];

/** Commands about issues and pull requests. */
export const PULL_REQUESTS = [
  row("pr [run]", "open the pull request of a run on GitHub, or update it", {
    args: { run: "name or id of a run with a worktree, or last" },
    flags: [
      flag("--draft", "open a draft; required if the run did not succeed"),
      flag("--base <branch>", "branch to merge into (default: the branch that the run started from)"),
      many("--reviewer <name>", "ask this person, or this team (ORG/TEAM), for a review (repeatable)"),
      ...SHOW,
    ],
    help: [
      `Pushes the branch of the run and opens one pull request that says what you asked
for, what ralph verified, what it cost, and how to check it again. Called again, it
updates that pull request. Uses your gh, and never overwrites what others pushed.
Without RUN: the latest run of this folder.`,
      "ralph pr",
      "ralph pr calm-otter --draft --reviewer octocat",
    ],
    run: async (name, flags) => (await import("../commands/pull-request.js")).pr(name, flags),
  }),
  row("intake", "take issues with a label, and deliver a pull request for each", {
    flags: [
      flag("--label <label>", "take issues with this label (default: ralph)"),
      flag("--parallel <n>", "work on this many at once (default: 1)"),
      flag("--once", "end when no issue is left, for cron"),
      flag("--poll <s>", "check every so many seconds (default: 60)"),
      flag("--trust-author", "also take issues by people without write access"),
      ...CHECKS,
      CONFIG,
      ...startFlags({ maxIterations: "25" }).filter(({ flags }) => !/^--(name|report|json)/.test(flags)),
    ],
    help: [
      `Takes open issues, oldest first: claims one with the label ralph:working and a
comment, works on it as ralph loop --issue N --worktree --pr does, and ends with
ralph:done and a pull request, or with ralph:blocked and a question in the issue.
When someone with write access answers there, it continues, also in a later --once.
Two intakes never take the same issue; a claim expires after 24 hours.`,
      'ralph intake --once --check "npm test" --max-cost 5',
      'ralph intake --once --label ready --parallel 3 --check "npm test"',
    ],
    run: async (flags) => (await import("../commands/github.js")).intake(flags),
  }),
  row("follow [run]", "work on the feedback on a pull request until it is merged", {
    args: { run: "name or id of a run, or the number or address of its pull request" },
    flags: [
      flag("--max-rounds <n>", "stop after this many rounds (default: 3)"),
      flag("--max-cost <usd>", "stop when all rounds together have cost this much"),
      flag("--poll <s>", "check every so many seconds (default: 60)"),
      ...STYLE,
      flag("-q, --quiet", "print only the closing summaries of the rounds"),
      flag("-V, --verbose", "print every step on stderr"),
    ],
    help: [
      `Failed checks, requested changes, line comments and conflicts with the base become
the task of a round: an ordinary run in the same worktree, verified before ralph
pushes it and answers in the thread. ralph listens only to people with write
access; any of them ends it with a comment "/ralph stop". ralph never merges. Exits
0 when the pull request was merged, 1 when it was closed, the rounds or the budget
are used up, or the same failure came twice. After a crash: the same command, or ralph resume.`,
      "ralph follow",
      "ralph follow calm-otter --max-rounds 5 --max-cost 10",
    ],
    run: async (name, flags) => (await import("../commands/github.js")).follow(name, flags),
  }),
];
