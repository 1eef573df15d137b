import { row } from "./build.js";
import {
  agentFlags,
  CHECK_TIMEOUT,
  CHECKS,
  COMPLETION,
  CONFIG,
  flag,
  HIDDEN_AGAIN,
  ISSUE,
  many,
  NO_DONE_INSTRUCTION,
  nets,
  OUTPUT,
  older,
  PULL_REQUEST,
  REPORT,
  SHOW,
  STYLE,
  startFlags,
  TEXT_FLAGS,
  WORKTREE,
} from "./flags.js";
import { race } from "./race.js";

/** Commands that start or continue a run, and those of the recipes. */

const run = row("run [text]", "repeat a prompt until every check passes and the agent says it is done", {
  args: { text: "the prompt (-: read it from stdin; put a text that begins with - after --)" },
  flags: [
    ...TEXT_FLAGS,
    older("-m, --maximum-iterations <n>", "--max-iterations"),
    ...COMPLETION,
    ...CHECKS,
    flag("--stream-agent-output", "show what the agent does (default)"),
    flag("--no-stream-agent-output", "show only the agent's final answer"),
    WORKTREE,
    ...ISSUE,
    CONFIG,
    ...startFlags(),
  ],
  help: [
    `The run is done when every check exits 0 (those of the settings and of --check)
and the agent's final message says <response>DONE</response>, alone on a line or
at the end. ralph adds this instruction to the prompt unless the prompt has it.`,
    'ralph run "Fix the failing test." --check "npm test"',
    "ralph run -f PROMPT.md --agent codex -n 20 --max-time 2h",
  ],
  run: async (text, flags) => (await import("../commands/task.js")).run(text, flags),
});

const loop = row("loop [task]", "work on one task until every check passes and the agent says it is done", {
  args: { task: "what to do (-: read it from stdin; put a text that begins with - after --)" },
  flags: [
    ...TEXT_FLAGS,
    flag("--spec <file>", "file in place of TASK", { isHidden: true }),
    ...CHECKS,
    flag("--completion-tag <tag>", "word that the agent says when it is done (default: COMPLETE)"),
    flag("--no-completion-tag", "let the checks alone decide"),
    NO_DONE_INSTRUCTION,
    WORKTREE,
    ...ISSUE,
    CONFIG,
    older("-c, --config-file <file>", "--config"),
    ...startFlags({ maxIterations: "25" }),
  ],
  help: [
    `Each iteration starts with a fresh context: the task, the checks, the changes so
far, the failures and the progress. The run is done when every check exits 0 and
the agent's final message has the completion tag on a line of its own. The loop
needs at least one check, from --check or the settings.`,
    'ralph loop "Make the tests pass" --check "npm test"',
    'ralph loop "Migrate to async/await" --check "npm test" --worktree --max-iterations 10',
    'ralph loop --issue 12 --check "npm test" --worktree --pr',
    'ralph loop -f SPEC.md --check "npm test" --max-cost 3 --max-time 10m --report markdown',
  ],
  run: async (task, flags) => (await import("../commands/task.js")).loop(task, flags),
});

const STORIES_PLACE = [
  flag("-d, --project-dir <dir>", "the project (default: this folder)"),
  flag("--ralph-dir <dir>", "folder of the stories in the project (default: ralph)"),
];

const REVIEWS = [
  flag("--skip-review", "skip the reviews: the agent that implements a story passes it"),
  flag("--no-skip-review", "review, whatever the settings say"),
  flag("--review-cap <n>", "review each story at most this often (default: 5)"),
];

const REVIEWER = flag("--reviewer-agent <agent>", "use another agent for the reviews", { group: "Agent:" });

const storiesCommands = [
  row("init", "create ralph/ with prd.md, tasks.json, progress.txt and prompt.md", {
    flags: [
      flag("--name <feature>", "name of the feature in prd.md and tasks.json"),
      flag("--force", "overwrite existing files"),
    ],
    help: ["Adds .ralph-active to .gitignore.", "ralph stories init --name checkout"],
    run: async (flags) => (await import("../commands/stories.js")).init(flags),
  }),
  row("plan", "plan with an agent: it asks you, then writes prd.md and tasks.json", {
    flags: [...agentFlags(), { ...CONFIG, group: "Agent:" }],
    help: ["Starts the agent in this terminal.", "ralph stories plan"],
    run: async (flags) => (await import("../commands/stories-plan.js")).plan(flags),
  }),
  row("add <title>", "add a story to tasks.json", {
    args: { title: "one line that says what the story is about" },
    flags: [many("--criteria <text>", "what must hold when it is done (repeatable; default: the title)")],
    help: [
      "Creates ralph/ if it is missing. ralph fills in the id and the rest.",
      'ralph stories add "Add a cart" --criteria "Two articles stay in it after a reload"',
    ],
    run: async (title, flags) => (await import("../commands/stories.js")).add(title, flags),
  }),
  row("import [file]", "import stories from a Markdown checklist, a prd.json, or issues on GitHub", {
    args: { file: "a .md file with a checklist, or a prd.json without reviews" },
    flags: [
      flag("--force", "overwrite tasks.json"),
      flag("--github", "import the open issues on GitHub, one story each"),
      flag("--label <label>", "with --github: only issues with this label"),
      flag("--milestone <title>", "with --github: only issues of this milestone"),
      flag("--trust-author", "with --github: also issues by people without write access"),
    ],
    help: [
      `Each "- [ ] Title" becomes a story, and the items below it become its criteria;
so do the items below a heading such as "## US-001: Title". A story that is ticked,
or passed in prd.json, starts with its review. The check boxes of an issue become
criteria; "blocked by #12" and boxes that name an issue become dependencies.`,
      "ralph stories import TODO.md",
      "ralph stories import prd.json",
      "ralph stories import --github --label ready",
    ],
    run: async (file, flags) => (await import("../commands/stories.js")).importFile(file, flags),
  }),
  row("run", "loop until every story is approved", {
    flags: [
      flag("--parallel <n>", "work on this many stories at once, and land them one by one (default: 1)"),
      flag("--allow-unverified", "with --parallel: land even though no check verifies the work"),
      ...REVIEWS,
      ...CHECKS,
      WORKTREE,
      PULL_REQUEST,
      CONFIG,
      ...startFlags({ maxIterations: "15", sandbox: "auto" }, [
        ...agentFlags(),
        older("-m <model>", "--model"),
        REVIEWER,
      ]),
    ],
    help: [
      `Each iteration implements a story, reviews one, or addresses the feedback of a
review. ralph undoes what an agent may not do; three such iterations in a row end
the run.`,
      "ralph stories run",
      "ralph stories run --max-iterations 30 --reviewer-agent codex",
      "ralph stories run --skip-review",
      'ralph stories run --parallel 4 --check "npm test"',
    ],
    run: async (flags) => (await import("../commands/stories.js")).run(flags),
  }),
  row("status", "show the stories, their state, and what comes next", {
    flags: [...SHOW, flag("--stats", "show reviews, iterations, cost and time per story")],
    help: ["Changes nothing.", "ralph stories status", "ralph stories status --stats"],
    run: async (flags) => (await import("../commands/stories.js")).status(flags),
  }),
  row("verify", "run the checks that an agent must pass before it may stop", {
    flags: [...REVIEWS, ...STYLE],
    help: ["Exits 1 if something is wrong. Starts no agent and changes nothing.", "ralph stories verify"],
    run: async (flags) => (await import("../commands/stories.js")).verify(flags),
  }),
  row("archive", "move the stories to ralph-archive/, start afresh, and commit that", {
    flags: [flag("--label <label>", "label in the name of the folder (default: the branch)")],
    help: ["Moves prd.md, tasks.json and progress.txt, and writes summary.md.", "ralph stories archive"],
    run: async (flags) => (await import("../commands/stories.js")).archive(flags),
  }),
];

const stories = row("stories", "work on a list of stories, each with a review by a fresh agent", {
  help: [
    `One agent implements a story, another one reviews it with a fresh context, until
every story is approved. Details: ralph stories COMMAND --help`,
    "ralph stories init --name checkout",
    "ralph stories run",
    "ralph stories status",
  ],
  commands: storiesCommands.map((inner) => ({ ...inner, flags: [...STORIES_PLACE, ...(inner.flags ?? [])] })),
});

const RETRIES = flag("--max-gate-retries <n>", "let agents try each gate this often (default: 5)");

const pipeline = row("pipeline", "go from a spec to working code, through gates", {
  help: [
    `STRESS_TEST, VALIDATE, GENERATE_PRP, CHECK_PRP, GENERATE_TESTS, CHECK_TESTS,
IMPLEMENT: each state has a gate that must pass before the next one begins.
A PRP (product requirements prompt) is the plan that an agent writes from the
spec: problem, numbered success criteria, scope, requirements, phases.
Details: ralph pipeline COMMAND --help`,
    "ralph pipeline run specs/recipe-saver.md",
    "ralph pipeline status",
    "ralph pipeline resume",
  ],
  commands: [
    row("run <spec-file>", "go from a spec to working code, through gates", {
      args: { "spec-file": "the spec" },
      flags: [
        RETRIES,
        flag("--test-command <command>", "command that runs the tests (default: found in the project)"),
        CHECK_TIMEOUT,
        flag("--dry-run", "only show the states and their gates"),
        WORKTREE,
        CONFIG,
        ...startFlags({ maxIterations: "what the retries allow", stuckAfter: "0" }),
      ],
      help: [
        `When a gate fails, a fresh agent tries again, with the output of the gate. When
the retries are used up, the pipeline stops in the GUTTER: the output is in
.ralph/gutter-STATE.log, all changes are in .ralph/gutter-diff.patch. Fix the
cause, then continue with ralph pipeline resume.`,
        "ralph pipeline run specs/recipe-saver.md --max-gate-retries 3",
        "ralph pipeline run --dry-run specs/recipe-saver.md",
      ],
      run: async (spec, flags) => (await import("../commands/pipeline.js")).run(spec, flags),
    }),
    row("resume", "continue at the state where the pipeline stopped", {
      flags: [RETRIES, ...nets({ maxIterations: null }), HIDDEN_AGAIN, ...OUTPUT, ...REPORT],
      help: [
        "After the GUTTER the gate runs first, and the state has all of its retries again.",
        "ralph pipeline resume",
        "ralph pipeline resume --max-gate-retries 5",
      ],
      run: async (flags) => (await import("../commands/pipeline.js")).resume(flags),
    }),
    row("status", "show the state of the pipeline of this folder", {
      flags: SHOW,
      help: ["Changes nothing.", "ralph pipeline status"],
      run: async (flags) => (await import("../commands/pipeline.js")).status(flags),
    }),
    row("init", "write the default pipeline to .ralph/pipeline.yaml, for you to edit", {
      flags: [
        flag("--validate-tests", "also write validate-tests.sh, and use it in CHECK_TESTS"),
        flag("--force", "overwrite existing files"),
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
    ...SHOW,
    flag("--spec <file>", "check: the spec of the PRP (default: specs/NAME.md)"),
    flag("--prp <file>", "generate: path of the PRP (default: PRPs/NAME.prp.md)"),
    flag("--tests <dir>", "implement, check-tests: the tests (default: all of the project)"),
    flag("--test-command <command>", "check-tests: command that runs the tests"),
    flag("--timeout <duration>", "check-tests: time limit of the tests (default: 5m)"),
    flag("--implemented", "check-tests: the code exists already; do not run the tests"),
  ],
  help: [
    `Starts no agent. Prints findings with their lines, writes an instruction to
.ralph/GATE-instruction.md, and exits 0 if the gate passes, 1 if it does not.
A PRP (product requirements prompt) is the plan that an agent writes from the spec.
  stress-test  the spec is complete      validate     the spec is clear
  generate     the PRP exists            check        the PRP is complete
  implement    the tests exist           check-tests  the tests are sound`,
    "ralph gate stress-test specs/recipe-saver.md",
    "ralph gate check PRPs/recipe-saver.prp.md --json",
  ],
  run: async (name, file, flags) => (await import("../commands/pipeline.js")).gate(name, file, flags),
});

const resume = row("resume [loop]", "continue a run or a worker that was paused, stopped or killed", {
  args: { loop: "name or id of a run or a worker, or last" },
  flags: [...nets({ maxIterations: null }), HIDDEN_AGAIN, ...OUTPUT, ...REPORT],
  help: [
    "Without LOOP: the latest unfinished run of this folder. Limits that you give replace\nthe old ones. A loop that is still alive keeps its limits and refuses new ones.",
    "ralph resume",
    "ralph resume --max-iterations 30 --max-cost 20",
  ],
  run: async (name, flags) => (await import("../commands/resume.js")).resume(name, flags),
});

const pause = row(
  "pause [loop]",
  "let the agent finish its iteration, then hold the loop until it is resumed",
  {
    args: { loop: "name or id of a run or a worker, or last" },
    help: ["Without LOOP: the active run of this folder. ralph resume continues it.", "ralph pause"],
    run: async (name) => (await import("../commands/resume.js")).pause(name),
  },
);

export const RUN_COMMANDS = [run, loop, race, stories, pipeline, gate, resume, pause];

/** Commands that can be the loop of a worker as they stand, as words. */
export const LOOP_COMMANDS = [["run"], ["loop"], ["race"], ["stories", "run"], ["pipeline", "run"]];
