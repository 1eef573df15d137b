import { row } from "./build.js";
import {
  agentFlags,
  CONFIG,
  flag,
  JSON_DOCUMENT,
  LOOK,
  many,
  nets,
  OUTPUT,
  REPORT,
  startFlags,
  WORKTREE,
} from "./flags.js";

/** Commands that start a run or go on with one, and those of the recipes. */

const run = row("run", "loop a prompt until the agent is done and every guardrail passes", {
  isLoop: true,
  flags: [
    flag("-p, --prompt <text>", "the prompt"),
    flag("-f, --prompt-file <file>", "file with the prompt, read anew for each iteration"),
    flag("-m, --maximum-iterations <n>", "same as --max-iterations", { sameAs: "--max-iterations" }),
    flag("-c, --completion-response <text>", "what <response> must say (default: DONE)"),
    flag("--done-pattern <regex>", "a final message that matches also means done"),
    many("--check <command>", "a guardrail for this run (repeatable)"),
    flag("--stream-agent-output", "show what the agent does (default)"),
    flag("--no-stream-agent-output", "ask for the final answer alone"),
    WORKTREE,
    CONFIG,
    ...startFlags(),
  ],
  help: [
    "The agent is done when its final message says <response>DONE</response> on a line of its own, or at its end, and every guardrail exits 0.",
    'ralph run -p "Fix the failing test. Say <response>DONE</response> when it passes." --check "npm test"',
    "ralph run -f PROMPT.md --agent codex -n 20 --max-time 2h",
  ],
  run: async (flags) => (await import("../commands/task.js")).run(flags),
});

const loop = row("loop [task]", "loop a task until every check passes and the agent says that it is done", {
  isLoop: true,
  flags: [
    many("--check <command>", "shell command that must exit 0 (repeatable, required)"),
    flag("--spec <file>", "file in place of TASK, read anew for each iteration"),
    flag("--completion-tag <tag>", "what the agent says when it is done (default: COMPLETE)"),
    flag("--no-completion-tag", "the checks alone decide"),
    flag("--check-timeout <duration>", "a check that takes longer has failed (default: 120)"),
    WORKTREE,
    { ...CONFIG, flags: "-c, --config <file>" },
    flag("-C, --config-file <file>", "same as --config", { sameAs: "--config", isHidden: true }),
    ...startFlags({ maxIterations: "25" }),
  ],
  help: [
    `Every iteration starts with a clean context: the task, the checks, the changes
so far, what the checks said, and the progress. It is done when every check exits
0 and the final message of the agent has the completion tag on a line of its own.`,
    'ralph loop "Make the tests pass" --check "npm test"',
    'ralph loop "Migrate to async/await" --check "npm test" --worktree --max-iterations 10',
    'ralph loop --spec SPEC.md --check "npm test" --max-cost 3 --max-time 10m --report markdown',
  ],
  run: async (task, flags) => (await import("../commands/task.js")).loop(task, flags),
});

const STORIES_PLACE = [
  flag("-d, --project-dir <dir>", "the project (default: this folder)"),
  flag("--ralph-dir <dir>", "folder of the stories in the project (default: ralph)"),
];

const REVIEWS = [
  flag("--skip-review", "no reviews: implement iterations pass their story"),
  flag("--no-skip-review", "reviews, whatever the settings say"),
  flag("--review-cap <n>", "reviews per story at the most (default: 5)"),
];

const REVIEWER = flag("--reviewer-agent <agent>", "another agent for the reviews", { group: "Agent:" });

const storiesCommands = [
  row("init", "make ralph/ with prd.md, tasks.json, progress.txt and prompt.md", {
    flags: [
      flag("--name <feature>", "name of the feature; the branch is ralph/NAME"),
      flag("--force", "overwrite what is there"),
    ],
    help: ["Adds .ralph-active to .gitignore.", "ralph stories init --name checkout"],
    run: async (flags) => (await import("../commands/stories/folder.js")).init(flags),
  }),
  row("plan", "let an agent ask you, and write prd.md and tasks.json", {
    flags: [...agentFlags(), { ...CONFIG, group: "Agent:" }],
    help: ["Starts the agent in this terminal.", "ralph stories plan"],
    run: async (flags) => (await import("../commands/stories/plan.js")).plan(flags),
  }),
  row("import <file>", "take over the stories of a prd.json that knows no reviews", {
    flags: [flag("--force", "overwrite tasks.json")],
    help: ["Stories that were passed there begin with their review.", "ralph stories import prd.json"],
    run: async (file, flags) => (await import("../commands/stories/folder.js")).importFile(file, flags),
  }),
  row("run", "loop until every story is approved", {
    isLoop: true,
    flags: [
      ...REVIEWS,
      WORKTREE,
      CONFIG,
      ...startFlags({ maxIterations: "15", sandbox: "auto" }, [...agentFlags("-m, "), REVIEWER]),
    ],
    help: [
      `Every iteration implements a story, reviews one, or addresses the feedback of a
review. What an agent may not do is put back; three such iterations in a row end
the run.`,
      "ralph stories run",
      "ralph stories run --max-iterations 30 --reviewer-agent codex",
      "ralph stories run --skip-review",
    ],
    run: async (flags) => (await import("../commands/stories/run.js")).run(flags),
  }),
  row("status", "show the stories, where they stand, and what comes next", {
    flags: [...LOOK, flag("--stats", "reviews, iterations, cost and time per story"), JSON_DOCUMENT],
    help: ["Changes nothing.", "ralph stories status", "ralph stories status --stats"],
    run: async (flags) => (await import("../commands/stories/show.js")).status(flags),
  }),
  row("verify", "run the checks that an agent has to pass before it may stop", {
    flags: [...REVIEWS, ...LOOK],
    help: ["Exits 1 when something is wrong. Asks no agent, changes nothing.", "ralph stories verify"],
    run: async (flags) => (await import("../commands/stories/show.js")).verify(flags),
  }),
  row("archive", "put the stories away in ralph-archive/, start anew, and commit that", {
    flags: [flag("--label <label>", "end of the name of the folder (default: the branch)")],
    help: ["Moves prd.md, tasks.json and progress.txt, and writes summary.md.", "ralph stories archive"],
    run: async (flags) => (await import("../commands/stories/folder.js")).archive(flags),
  }),
];

const stories = row("stories", "work on a list of stories, each with a review by a fresh agent", {
  help: [
    `An agent implements one story, another one with a fresh context reviews it, and so
on until every story is approved. ralph stories COMMAND --help says more.`,
    "ralph stories init --name checkout",
    "ralph stories run",
    "ralph stories status",
  ],
  commands: storiesCommands.map((inner) => ({ ...inner, flags: [...STORIES_PLACE, ...(inner.flags ?? [])] })),
});

const RETRIES = flag("--max-gate-retries <n>", "tries of agents at a gate until the GUTTER (default: 5)");

const pipeline = row("pipeline", "go from a spec to working code, through gates", {
  help: [
    `STRESS_TEST, VALIDATE, GENERATE_PRP, CHECK_PRP, GENERATE_TESTS, CHECK_TESTS,
IMPLEMENT: each state has a gate that has to pass before the next one begins.
ralph pipeline COMMAND --help says more.`,
    "ralph pipeline run specs/recipe-saver.md",
    "ralph pipeline status",
    "ralph pipeline resume",
  ],
  commands: [
    row("run <spec-file>", "go from a spec to working code, through gates", {
      isLoop: true,
      args: { "spec-file": "the spec" },
      flags: [
        RETRIES,
        flag("--test-command <command>", "how the tests are run (default: as the project tells)"),
        flag("--dry-run", "show the states and their gates, and write nothing"),
        WORKTREE,
        CONFIG,
        ...startFlags({ maxIterations: "what the retries allow", stuckAfter: "0" }),
      ],
      help: [
        `A gate that fails is tried again with a fresh agent, which gets what it said.
When the retries are exhausted the pipeline stops in the GUTTER, with its output
in .ralph/gutter-STATE.log and all changes in .ralph/gutter-diff.patch. Mend it,
then ralph pipeline resume goes on.`,
        "ralph pipeline run specs/recipe-saver.md --max-gate-retries 3",
        "ralph pipeline run --dry-run specs/recipe-saver.md",
      ],
      run: async (spec, flags) => (await import("../commands/pipeline.js")).run(spec, flags),
    }),
    row("resume", "go on at the state where the pipeline stopped", {
      flags: [RETRIES, ...nets({ maxIterations: null }), ...OUTPUT, ...REPORT],
      help: [
        "After the GUTTER the gate looks first, and the state has all of its retries again.",
        "ralph pipeline resume",
        "ralph pipeline resume --max-gate-retries 5",
      ],
      run: async (flags) => (await import("../commands/pipeline.js")).resume(flags),
    }),
    row("status", "show where the pipeline of this folder stands", {
      flags: [...LOOK, JSON_DOCUMENT],
      help: ["Reads the journal and changes nothing.", "ralph pipeline status"],
      run: async (flags) => (await import("../commands/pipeline.js")).status(flags),
    }),
    row("init", "write the default pipeline to .ralph/pipeline.yaml, to edit it", {
      flags: [
        flag("--validate-tests", "also write validate-tests.sh, and use it in CHECK_TESTS"),
        flag("--force", "overwrite what is there"),
      ],
      help: ["States, gates, pass conditions and timeouts.", "ralph pipeline init"],
      run: async (flags) => (await import("../commands/pipeline.js")).init(flags),
    }),
  ],
});

const GATES = ["stress-test", "validate", "generate", "check", "implement", "check-tests"];

const gate = row("gate <gate> <file>", "run one gate of the pipeline, here or in CI", {
  args: { gate: GATES, file: "the spec; for check, implement and check-tests the PRP" },
  flags: [
    ...LOOK,
    JSON_DOCUMENT,
    flag("--spec <file>", "check: the spec of the PRP (default: specs/NAME.md)"),
    flag("--prp <file>", "generate: where the PRP belongs (default: PRPs/NAME.prp.md)"),
    flag("--tests <dir>", "implement, check-tests: the tests (default: all of the project)"),
    flag("--test-command <command>", "check-tests: how the tests are run"),
    flag("--timeout <duration>", "check-tests: the suite may take that long (default: 5m)"),
    flag("--implemented", "check-tests: the code is there already, the suite is not run"),
  ],
  help: [
    `Asks no agent. Prints findings with their lines, writes an instruction to
.ralph/GATE-instruction.md, exits 0 when the gate passes and 1 when it does not.
  stress-test  the spec is complete      validate     the spec is clear
  generate     the PRP is there          check        the PRP has its parts
  implement    the tests are there       check-tests  the tests are sound`,
    "ralph gate stress-test specs/recipe-saver.md",
    "ralph gate check PRPs/recipe-saver.prp.md --json",
  ],
  run: async (name, file, flags) => (await import("../commands/gate.js")).gate(name, file, flags),
});

const resume = row(
  "resume [loop]",
  "go on with a run or a worker that was paused, stopped, interrupted or killed",
  {
    args: { loop: "id of a run, or name of a worker" },
    flags: [...nets({ maxIterations: null }), ...OUTPUT, ...REPORT],
    help: [
      "Without LOOP: the latest unfinished run of this folder. Limits that are given take the place of the old ones; a loop that is alive keeps its own, and refuses them.",
      "ralph resume",
      "ralph resume --max-iterations 30 --max-cost 20",
    ],
    run: async (name, flags) => (await import("../commands/resume.js")).resume(name, flags),
  },
);

const pause = row("pause [loop]", "let the agent at work finish, then wait until the loop is resumed", {
  args: { loop: "id of a run, or name of a worker" },
  help: ["Without LOOP: the run that is at work in this folder. ralph resume ends the wait.", "ralph pause"],
  run: async (name) => (await import("../commands/resume.js")).pause(name),
});

/** The commands that run something, in the order of the help. */
export const RUN_COMMANDS = [run, loop, stories, pipeline, gate, resume, pause];

/** Commands that can be the loop of a worker as they stand, as words. */
export const LOOP_COMMANDS = RUN_COMMANDS.flatMap(({ words, isLoop, commands = [] }) => [
  ...(isLoop ? [[nameOf(words)]] : []),
  ...commands.filter((inner) => inner.isLoop).map((inner) => [words, nameOf(inner.words)]),
]);

function nameOf(words: string): string {
  return words.replace(/ .*/, "");
}
