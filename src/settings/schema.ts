import { z } from "zod";
import { parseDuration } from "../duration.js";
import { DEFAULTS, LOOP_DEFAULTS, MOST_CONFIRMATIONS } from "./limits.js";

/** The one schema of `.ralph/settings.json`, its local overlay and `--config`. */

/** A key that may be left out, and what it means. */
function key<Schema extends z.ZodType>(schema: Schema, about: string): z.ZodOptional<Schema> {
  return schema.optional().describe(about);
}

const FailAction = z.enum(["APPEND", "PREPEND", "REPLACE"]);
export type FailAction = z.infer<typeof FailAction>;

const positiveInteger = z.int().min(1);
const word = z.string().min(1);

const SOMETHING = "expected some text";
const someText = z.string(SOMETHING).regex(/\S/, SOMETHING);

/** `600` (seconds), `"90s"`, `"10m"` or `"2h"`. */
const DURATION = "expected a number of seconds, or a number with s, m, h or d";
const duration = z
  .union([z.number(), z.string()], DURATION)
  .refine((value) => (parseDuration(value) ?? 0) > 0, DURATION);

const Pattern = z
  .string()
  .refine(
    (pattern) => pattern.trim() !== "" && !/^[/~!]/.test(pattern) && !pattern.split("/").includes(".."),
    "expected a pattern of files in the project, such as tests/**",
  );
const Inputs = z.array(Pattern).min(1, "expected at least one pattern");

const Check = z.strictObject(
  {
    name: key(someText, "Name of the check; default: its command."),
    command: word.describe("Shell command; exit 0 is a pass."),
    failAction: FailAction.default("APPEND").describe(
      "Where the next prompt of ralph run shows the failure.",
    ),
    hint: key(z.string(), "Guidance for the agent when it fails."),
    timeout: key(duration, "A duration: 90 (seconds), 90s, 5m or 1h. Default: --check-timeout (10m)."),
    inputs: key(
      Inputs,
      "Patterns of the files that it depends on: ralph does not run it again until one of them changes.",
    ),
    flaky: key(z.literal("retry"), "A known flaky check: when it fails, ralph tries it twice more."),
  },
  "expected a command, or an object with one",
);

/** Agents do not see it: they learn only its name when it fails. */
const HiddenCheck = z.strictObject(
  {
    name: key(someText, "The name that agents see when it fails; default: hidden check 1, 2, …"),
    command: someText.describe("Shell command; exit 0 is a pass."),
    timeout: key(duration, "A duration: 90 (seconds), 90s, 5m or 1h. Default: --check-timeout (10m)."),
  },
  "expected a command, or an object with one",
);

const AgentProfile = z.strictObject({
  command: word.describe("A known agent or any command."),
  flags: key(z.array(z.string()), "Split into words as a shell would."),
  model: key(word, "The model, in the agent's own words."),
  permissions: key(z.enum(["unattended", "all", "edits", "ask"]), "How much it may do without asking."),
  env: key(z.record(z.string(), z.string()), "Variables for the agent only."),
});
export type AgentProfile = z.infer<typeof AgentProfile>;

const Scm = z.strictObject({
  command: word.describe("For example git."),
  tasks: z.array(word).describe("Run in order, for example commit and push."),
  stage: z.enum(["all", "tracked"]).default("all").describe("What git commits: new files too, or not."),
});

const HOST = "expected a host such as api.example.com, *.example.com or localhost:3000";
const host = z.string().regex(/^(\*\.)?([\w-]+(\.[\w-]+)*|\[[\da-f:]+\])(:[1-9]\d{0,4})?$/i, HOST);
const paths = z.array(word);
const sandboxKind = z.enum(["auto", "docker", "srt", "none"]);

const Sandbox = z.strictObject({
  kind: key(sandboxKind, "Confines agents; --sandbox wins. auto: what works here, or nothing."),
  network: z
    .strictObject({ allow: key(z.array(host), "More hosts, besides those of the agent's provider.") })
    .optional(),
  filesystem: z
    .strictObject({
      allowWrite: key(paths, "Agents may also write here, outside the workspace (srt)."),
      denyRead: key(paths, "Agents must not read this, besides keys and logins (srt)."),
      denyWrite: key(paths, "Agents must not write this, although it is in the workspace (srt)."),
    })
    .optional(),
  checks: key(z.boolean(), "Whether checks run inside, too; default: false."),
  settle: key(
    z.number().min(0).max(60),
    "Seconds until files are out of a virtual machine (docker); default: 2.5.",
  ),
});

const { mostIterations } = LOOP_DEFAULTS;
const COST = "expected an amount in USD above 0";
const CHECKS = 'expected a list of commands, such as ["npm test"]';
const ITERATIONS = `expected a whole number from 1 to ${mostIterations}`;
const iterations = z.int(ITERATIONS).min(1, ITERATIONS).max(mostIterations, ITERATIONS);
const AMOUNT = "expected an amount in USD above 0, or null";
const TAG = "expected one line with something in it, or null";

/** The keys of a `ralph_loop` section, as they are written in YAML. */
const Loop = z.strictObject({
  max_iterations: key(iterations, "1 to 100; 25 unless given."),
  max_cost: key(z.number(AMOUNT).positive(AMOUNT).nullable(), "In USD; null: no limit."),
  max_time: key(duration.nullable(), "A duration: 600 (seconds), 90s, 10m or 2h; null: no limit."),
  completion_tag: key(
    z
      .string(TAG)
      .regex(/^[^\r\n]*\S[^\r\n]*$/, TAG)
      .nullable(),
    "What the agent says when it is done; default: COMPLETE. null: the checks alone decide.",
  ),
  agent: key(word, "As --agent. The name build stands for the default one."),
  fallback_agents: key(z.array(someText), "As --fallback-agent, in this order; of every recipe."),
  escalate_model: key(someText, "As --escalate-model, for the agent of the settings; of every recipe."),
});
export type LoopSettings = z.infer<typeof Loop>;

const PARALLEL = "expected true, false, or a whole number of at least 1";
const parallel = z.union([z.boolean(), z.int(PARALLEL).min(1, PARALLEL)], PARALLEL);
const byCommand = z.record(z.string(), Inputs);

const CheckOptions = z.strictObject({
  parallel: key(parallel, "How many run at the same time; true: one per processor."),
  failFast: key(z.boolean(), "Run the check that failed last time first, and stop at the first failure."),
  inputs: key(byCommand, "By command: patterns of the files that it depends on, as checks have them."),
});

const CONFIRM = `expected a whole number from 0 to ${MOST_CONFIRMATIONS}`;
const confirmations = z.int(CONFIRM).min(0, CONFIRM).max(MOST_CONFIRMATIONS, CONFIRM);

const Review = z.strictObject({
  skip: key(z.boolean(), "No reviews, as --skip-review; --no-skip-review wins."),
  cap: key(positiveInteger, "Review each story at most this often, as --review-cap; default: 5."),
  agent: key(
    someText,
    "Another agent for the reviews, as --reviewer-agent: a known agent, a profile or a command.",
  ),
});

const WEBHOOK = "expected an address that starts with http:// or https://";

const occasion = z.enum(["finished", "failed", "blocked", "waiting"]);

const Notify = z.strictObject({
  desktop: key(z.boolean(), "Show it on the desktop (notify-send, osascript)."),
  webhook: key(z.url({ protocol: /^https?$/, error: WEBHOOK }), "Post it there as JSON."),
  command: key(word, "Shell command that gets it as JSON on stdin."),
  on: key(z.array(occasion), "Which events are reported; default: all."),
});

const ENGINE = "expected an address that starts with redis://, rediss:// or postgres://";

const Fleet = z.strictObject({
  url: key(
    z.string().regex(/^(rediss?|postgres(ql)?):\/\/./, ENGINE),
    "The engine of the fleet: redis://, rediss:// or postgres://; RALPH_FLEET wins.",
  ),
  lease: key(
    duration,
    "How long a worker may be silent until its job goes to another one; default: 60s. RALPH_FLEET_LEASE wins.",
  ),
  maxCostPerDay: key(
    z.number(COST).positive(COST),
    "In USD: the limit for all jobs of a day (UTC) together.",
  ),
});

const Agent = AgentProfile.partial({ command: true }).extend({
  background: key(
    z.enum(["end", "keep"]),
    "What to do with processes that agents and checks leave running: end (default), or keep, as --keep-background.",
  ),
});
const profileName = z.string().refine((name) => name !== "__proto__", "a name that cannot be used");

export const Settings = z.strictObject({
  $schema: key(z.string(), "Where editors find the schema of this file."),
  maxIterations: key(
    positiveInteger,
    "As --max-iterations, for every recipe. Default: 10 for ralph run, 25 for ralph loop (at most 100), 15 for ralph stories run; for ralph pipeline run, what its retries need.",
  ),
  maxCost: key(z.number(COST).positive(COST), "In USD, as --max-cost, for every recipe."),
  maxTime: key(duration, "A duration: 600 (seconds), 90s, 10m or 2h, as --max-time, for every recipe."),
  completionResponse: word
    .default(DEFAULTS.completionResponse)
    .describe("What <response> must say in the final message."),
  outputTruncateChars: positiveInteger
    .default(DEFAULTS.outputTruncateChars)
    .describe(
      "How many characters of a failed check's output prompts and reports show: the lines that name failures, then the end.",
    ),
  streamAgentOutput: z
    .boolean()
    .default(DEFAULTS.streamAgentOutput)
    .describe("Show what the agent does; false shows only its final answer."),
  includeIterationCountInPrompt: z
    .boolean()
    .default(DEFAULTS.includeIterationCountInPrompt)
    .describe("Put the number of the iteration before the prompt."),
  agent: key(Agent, "The agent that does the work."),
  agents: key(z.record(profileName, AgentProfile), "Named profiles for --agent."),
  checks: z
    .array(Check, CHECKS)
    .default(DEFAULTS.checks)
    .describe(
      "The project's checks: commands that must pass, or objects with a command. For ralph run, ralph loop, ralph stories run (where tasks.json has no verifyCommands) and ralph spawn with a known agent.",
    ),
  hiddenChecks: key(
    z.array(z.union([someText, HiddenCheck])),
    "Checks that agents do not see, for every recipe: they run after the others have passed. Best in a file that no agent reads, such as ~/.ralph/settings.json.",
  ),
  checkOptions: key(CheckOptions, "Options that make checks faster."),
  confirm: key(confirmations, "How often to run checks again that all passed, as --confirm."),
  scm: key(Scm, "What ralph run does when all checks pass."),
  loop: key(Loop, "What ralph loop does differently from the other recipes."),
  ralph_loop: key(Loop, "The same under its name in YAML files."),
  review: key(Review, "How ralph stories reviews each story."),
  protect: key(
    z.array(Pattern),
    "Patterns of files that agents may not change, such as tests/**: ralph undoes their changes.",
  ),
  notify: key(Notify, "Where to report that a run has ended, or waits."),
  setup: key(word, "Shell command that ralph runs once in a new worktree."),
  teardown: key(
    word,
    "Shell command that ralph runs in a worktree before it removes it, and at the end of each lane.",
  ),
  sandbox: key(Sandbox, "How to confine agents, and what they may do."),
  fleet: key(Fleet, "Where ralph fleet finds its engine, and its rules."),
});

export type Settings = z.infer<typeof Settings>;

const { checks, checkOptions, maxIterations } = Settings.shape;
const ListOfChecks = z.array(z.union([word, Check]));

/** What a file may hold: a command in place of a check, and older names. */
export const WrittenSettings = Settings.extend({
  checks: z
    .union([ListOfChecks, CheckOptions])
    .default(DEFAULTS.checks)
    .describe(checks.description as string),
  guardrails: key(ListOfChecks, "Older name of checks."),
  maximumIterations: maxIterations.describe("Older name of maxIterations."),
  checkOptions,
});
