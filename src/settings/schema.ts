import { z } from "zod";
import { parseDuration } from "../duration.js";
import { DEFAULTS, LOOP_DEFAULTS } from "./limits.js";

/** The one schema of `.ralph/settings.json`, its local overlay and `--config`. */

const FailAction = z.enum(["APPEND", "PREPEND", "REPLACE"]);
export type FailAction = z.infer<typeof FailAction>;

const positiveInteger = z.int().min(1);

/** `600` (seconds), `"90s"`, `"10m"` or `"2h"`. */
const DURATION = "expected a number of seconds, or a number with s, m, h or d";
const duration = z
  .union([z.number(), z.string()], DURATION)
  .refine((value) => (parseDuration(value) ?? 0) > 0, DURATION);

const Pattern = z
  .string()
  .refine(
    (pattern) => pattern.trim() !== "" && !/^[/~]/.test(pattern) && !pattern.split("/").includes(".."),
    "expected a pattern of files in the project, such as tests/**",
  )
  .refine(
    (pattern) => !pattern.startsWith("!"),
    "expected a pattern of what is meant: exceptions with ! are not known",
  );
const Inputs = z.array(Pattern).min(1, "expected at least one pattern");

const Guardrail = z.strictObject({
  command: z.string().min(1).describe("Shell command; exit 0 is a pass."),
  failAction: FailAction.default("APPEND").describe("What a failure does to the next prompt."),
  hint: z.string().optional().describe("Guidance for the agent when it fails."),
  timeout: duration.optional().describe("A duration: 90 (seconds), 90s, 5m or 1h. 10m unless given."),
  inputs: Inputs.optional().describe(
    "Patterns of the files that it depends on: it is not run again while they are unchanged since it passed.",
  ),
});

const Permissions = z.enum(["unattended", "all", "edits", "ask"]);

const AgentProfile = z.strictObject({
  command: z.string().min(1).describe("A known agent or any command."),
  flags: z.array(z.string()).optional().describe("Split into words as a shell would."),
  model: z.string().min(1).optional().describe("The model, in the agent's own words."),
  permissions: Permissions.optional().describe("How much it may do without asking."),
  env: z.record(z.string(), z.string()).optional().describe("Variables for the agent alone."),
});
export type AgentProfile = z.infer<typeof AgentProfile>;

const Scm = z.strictObject({
  command: z.string().min(1).describe("For example git."),
  tasks: z.array(z.string().min(1)).describe("Run in order, for example commit and push."),
  stage: z.enum(["all", "tracked"]).default("all").describe("What git commits: new files too, or not."),
});

const ITERATIONS = `expected a whole number from 1 to ${LOOP_DEFAULTS.mostIterations}`;
const AMOUNT = "expected an amount in USD above 0, or null";
const SOMETHING = "expected some text";
const someText = z.string(SOMETHING).regex(/\S/, SOMETHING);
const TAG = "expected one line with something in it, or null";

const HOST = "expected a host such as api.example.com, *.example.com or localhost:3000";
const PORT = "[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5]";
const host = z
  .string()
  .regex(new RegExp(`^(\\*\\.)?([\\w-]+(\\.[\\w-]+)*|\\[[\\da-f:]+\\])(:(${PORT}))?$`, "i"), HOST);
const paths = z.array(z.string().min(1));

const Sandbox = z.strictObject({
  kind: z
    .enum(["auto", "docker", "srt", "none"])
    .optional()
    .describe("What agents are shut into; --sandbox wins. auto: what works here, or nothing."),
  network: z
    .strictObject({ allow: z.array(host).optional().describe("Hosts beside those of the agent's provider.") })
    .optional(),
  filesystem: z
    .strictObject({
      allowWrite: paths.optional().describe("May be written beside the workspace (srt)."),
      denyRead: paths.optional().describe("Must not be read, beside keys and logins (srt)."),
      denyWrite: paths.optional().describe("Must not be written, though it is in the workspace (srt)."),
    })
    .optional(),
  checks: z.boolean().optional().describe("Whether checks run inside, too; false unless given."),
  settle: z
    .number()
    .min(0)
    .max(60)
    .optional()
    .describe("Seconds until files are out of a virtual machine (docker); 2.5 unless given."),
});

/** The keys of a `ralph_loop` section, as they are written in YAML. */
const Loop = z.strictObject({
  max_iterations: z
    .int(ITERATIONS)
    .min(1, ITERATIONS)
    .max(LOOP_DEFAULTS.mostIterations, ITERATIONS)
    .optional()
    .describe("1 to 100; 25 unless given."),
  max_cost: z.number(AMOUNT).positive(AMOUNT).nullish().describe("In USD; null: no limit."),
  max_time: duration.nullish().describe("A duration: 600 (seconds), 90s, 10m or 2h; null: no limit."),
  completion_tag: z
    .string(TAG)
    .regex(/^[^\r\n]*\S[^\r\n]*$/, TAG)
    .nullish()
    .describe("What the agent says when it is done; COMPLETE unless given. null: the checks alone decide."),
  agent: z.string().min(1).optional().describe("As --agent. The name build stands for the default one."),
  fallback_agents: z
    .array(someText)
    .optional()
    .describe("As --fallback-agent, in this order; of every recipe."),
  escalate_model: someText
    .optional()
    .describe("As --escalate-model, for the agent of the settings; of every recipe."),
});
export type LoopSettings = z.infer<typeof Loop>;

const PARALLEL = "expected true, false, or a whole number of at least 1";

const Checks = z.strictObject({
  parallel: z
    .union([z.boolean(), z.int(PARALLEL).min(1, PARALLEL)], PARALLEL)
    .optional()
    .describe("How many run at the same time; true: as many as there are processors."),
  failFast: z
    .boolean()
    .optional()
    .describe("The check that failed last time runs first, and none after one that fails."),
  inputs: z
    .record(z.string(), Inputs)
    .optional()
    .describe("By command: patterns of the files that it depends on, as guardrails have them."),
});

const Review = z.strictObject({
  skip: z.boolean().optional().describe("No reviews, as --skip-review; --no-skip-review wins."),
  cap: positiveInteger.optional().describe("Reviews per story at the most, as --review-cap; 5 unless given."),
  agent: someText
    .optional()
    .describe("Another agent for the reviews, as --reviewer-agent: a known agent, a profile or a command."),
});

const WEBHOOK = "expected an address that begins with http:// or https://";

const Notify = z.strictObject({
  desktop: z.boolean().optional().describe("Show it on the desktop (notify-send, osascript)."),
  webhook: z
    .url({ protocol: /^https?$/, error: WEBHOOK })
    .optional()
    .describe("Post it there as JSON."),
  command: z.string().min(1).optional().describe("Shell command that gets it as JSON on stdin."),
  on: z
    .array(z.enum(["finished", "failed", "blocked", "waiting"]))
    .optional()
    .describe("What is told; all of it unless given."),
});

export const Settings = z.strictObject({
  $schema: z.string().optional().describe("Where editors find the schema of this file."),
  maximumIterations: positiveInteger
    .default(DEFAULTS.maximumIterations)
    .describe("Iterations at the most; --max-iterations wins."),
  completionResponse: z
    .string()
    .min(1)
    .default(DEFAULTS.completionResponse)
    .describe("What <response> must say in the final message."),
  outputTruncateChars: positiveInteger
    .default(DEFAULTS.outputTruncateChars)
    .describe("How much of a failed guardrail's output the next prompt holds."),
  streamAgentOutput: z
    .boolean()
    .default(DEFAULTS.streamAgentOutput)
    .describe("Show what the agent does; false asks for its final answer alone."),
  includeIterationCountInPrompt: z
    .boolean()
    .default(DEFAULTS.includeIterationCountInPrompt)
    .describe("Put the number of the iteration before the prompt."),
  agent: AgentProfile.partial({ command: true })
    .extend({
      background: z
        .enum(["end", "keep"])
        .optional()
        .describe("What agents and checks leave running: end (unless given), or keep, as --keep-background."),
    })
    .optional()
    .describe("The agent that is asked."),
  agents: z
    .record(
      z.string().refine((name) => name !== "__proto__", "a name that cannot be used"),
      AgentProfile,
    )
    .optional()
    .describe("Named profiles for --agent."),
  guardrails: z.array(Guardrail).default(DEFAULTS.guardrails).describe("Commands that must pass."),
  scm: Scm.optional().describe("What is done when all guardrails pass."),
  loop: Loop.optional().describe("Defaults of ralph loop."),
  ralph_loop: Loop.optional().describe("The same under its name in YAML files."),
  checks: Checks.optional().describe("How checks and guardrails are made quicker."),
  review: Review.optional().describe("How ralph stories reviews each story."),
  protect: z
    .array(Pattern)
    .optional()
    .describe(
      "Patterns of files that agents may not change, such as tests/**: what they do there is undone.",
    ),
  notify: Notify.optional().describe("Who is told how a run ended, or that it waits."),
  setup: z.string().min(1).optional().describe("Shell command that is run once in a new worktree."),
  sandbox: Sandbox.optional().describe("What agents are shut into, and what they may do there."),
});

export type Settings = z.infer<typeof Settings>;
