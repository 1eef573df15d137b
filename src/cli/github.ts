import { row } from "./build.js";
import { CHECKS, CONFIG, flag, many, SHOW, STYLE, startFlags } from "./flags.js";

/** Commands about issues and pull requests. */
export const PULL_REQUESTS = [
  row("pr [run]", "open the pull request of a run on GitHub, or bring it up to date", {
    args: { run: "name or id of a run with a worktree, or last" },
    flags: [
      flag("--draft", "open a draft; of a run that did not succeed, nothing else is opened"),
      flag("--base <branch>", "branch to merge into (default: the one that the run started from)"),
      many("--reviewer <name>", "ask this person, or this team (ORG/TEAM), for a review (repeatable)"),
      ...SHOW,
    ],
    help: [
      `Pushes the branch of the run and opens one pull request: what was asked, what ralph
verified, what it cost, and how to check it again. Called again, it brings the same
one up to date. Uses your gh; nothing is ever forced over what others pushed.
Without RUN: the latest run of this folder.`,
      "ralph pr",
      "ralph pr calm-otter --draft --reviewer octocat",
    ],
    run: async (name, flags) => (await import("../commands/pull-request.js")).pr(name, flags),
  }),
  row("intake", "take issues with a label, and deliver a pull request for each", {
    flags: [
      flag("--label <label>", "issues with this label (default: ralph)"),
      flag("--parallel <n>", "work on so many at once (default: 1)"),
      flag("--once", "end when there is nothing left to take, for cron"),
      flag("--poll <s>", "look every so many seconds (default: 60)"),
      flag("--trust-author", "also issues by people without write access"),
      ...CHECKS,
      CONFIG,
      ...startFlags({ maxIterations: "25" }).filter(({ flags }) => !/^--(name|report|json)/.test(flags)),
    ],
    help: [
      `Takes open issues, the oldest first: claims one with the label ralph:working and a
comment, works on it as ralph loop --issue N --worktree --pr does, and ends with
ralph:done and a pull request, or with ralph:blocked and a question in the issue. An
answer there by somebody with write access lets it go on, also with a later --once.
Two intakes never take the same issue; a claim that is 24 hours old is free.`,
      'ralph intake --once --check "npm test" --max-cost 5',
      'ralph intake --once --label ready --parallel 3 --check "npm test"',
    ],
    run: async (flags) => (await import("../commands/intake.js")).intake(flags),
  }),
  row("follow [run]", "work on what comes back about a pull request, until it is merged", {
    args: { run: "name or id of a run, or the number or address of its pull request" },
    flags: [
      flag("--max-rounds <n>", "stop after this many rounds (default: 3)"),
      flag("--max-cost <usd>", "stop when all rounds together have cost this much"),
      flag("--poll <s>", "look every so many seconds (default: 60)"),
      ...STYLE,
      flag("-q, --quiet", "print only the closing summaries of the rounds"),
      flag("-V, --verbose", "print every step on stderr"),
    ],
    help: [
      `Failed checks, requested changes, line comments and conflicts with the base become
the task of a round: an ordinary run in the same worktree, verified before it is
pushed, and answered in the thread. Only people with write access are heard; one of
them ends it with a comment "/ralph stop". ralph never merges. Exits 0 when the pull
request was merged, 1 when it was closed, the rounds or the budget are used up, or
the same failure came twice. After a crash: the same command, or ralph resume.`,
      "ralph follow",
      "ralph follow calm-otter --max-rounds 5 --max-cost 10",
    ],
    run: async (name, flags) => (await import("../commands/follow-pull-request.js")).follow(name, flags),
  }),
];
