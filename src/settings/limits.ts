import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";

/** A limit of a run: its flag, its default, and what it may be. */
export interface LimitRow<Value> {
  kind: "count" | "usd" | "duration" | "switch";
  /** As commander has it. */
  flag: string;
  help: string;
  default: Value;
  /** The default of a duration in the words of the help. */
  shown?: string;
  /** 1 unless given; 0 means never. */
  least?: number;
  /** The flag that says no to a switch. */
  no?: [flag: string, help: string];
  /** Its key in the `loop` section of the settings. */
  setting?: string;
}

/** What a limit is counted in, by the value of its flag. */
const KINDS: Record<string, LimitRow<unknown>["kind"]> = {
  n: "count",
  usd: "usd",
  s: "duration",
  duration: "duration",
};

function limit<Value>(
  flag: string,
  help: string,
  value: Value,
  more: Pick<LimitRow<Value>, "shown" | "least" | "no" | "setting"> = {},
): LimitRow<Value> {
  return { kind: KINDS[/<(\w+)>/.exec(flag)?.[1] ?? ""] ?? "switch", flag, help, default: value, ...more };
}

const LIMITS: { [Name in keyof Limits]: LimitRow<Limits[Name]> } = {
  maxIterations: limit("-n, --max-iterations <n>", "iterations at the most", 10, {
    setting: "max_iterations",
  }),
  maxCostUsd: limit("--max-cost <usd>", "stop when more was spent", null, { setting: "max_cost" }),
  maxTokens: limit("--max-tokens <n>", "stop when more were used", null),
  maxTimeMs: limit("--max-time <duration>", "stop after 600 (seconds), 90s, 10m, 2h or 1d", null, {
    setting: "max_time",
  }),
  iterationTimeoutMs: limit("--iteration-timeout <duration>", "kill an agent that runs longer", null),
  inactivityTimeoutMs: limit(
    "--inactivity-timeout <s>",
    "kill an agent without a sign of life, 0: never",
    900_000,
    { shown: "900", least: 0 },
  ),
  maxFailures: limit("--max-failures <n>", "failed iterations in a row", 5),
  stuckAfter: limit("--stuck-after <n>", "iterations that fail alike and bring nothing new, 0: never", 3, {
    least: 0,
  }),
  waitForLimits: limit("--wait-for-limits", "wait until a usage limit ends", true, {
    no: ["--no-wait-for-limits", "stop when a usage limit is reached"],
  }),
  maxLimitWaitMs: limit(
    "--max-limit-wait <duration>",
    "how long to wait for it at the most",
    24 * 3_600_000,
    { shown: "24h" },
  ),
  allowOverage: limit("--allow-overage", "let the agent go on with paid extra usage", false, {
    no: ["--no-overage", "paid extra usage counts as a limit"],
  }),
};

export const LIMIT_ROWS = Object.entries(LIMITS) as [keyof Limits, LimitRow<Limits[keyof Limits]>][];

/** What holds where nobody has said anything else, for the command line and the library alike. */
export const DEFAULT_LIMITS = Object.fromEntries(
  LIMIT_ROWS.map(([name, row]) => [name, row.default]),
) as unknown as Limits;

/** The other settings of a project without a settings file: apart from the schema, which it does not load. */
export const DEFAULTS = {
  maximumIterations: 10,
  completionResponse: "DONE",
  outputTruncateChars: 5000,
  streamAgentOutput: true,
  includeIterationCountInPrompt: false,
  guardrails: [],
};

/** What holds for a loop over checks. */
export const LOOP_DEFAULTS = {
  maxIterations: 25,
  mostIterations: 100,
  completionTag: "COMPLETE",
  checkTimeoutMs: 120_000,
};

/** Iterations of a loop over stories: about five of them, with their reviews. */
export const STORIES_ITERATIONS = 15;

/** `base` with every flag that was given on top; commander hands them over as text. */
export function limitsFrom(flags: object, base: Limits): Limits {
  const { allowOverage, overage, ...others }: Record<string, unknown> = { ...flags };
  if (allowOverage && overage === false)
    throw new RalphError("--allow-overage and --no-overage exclude each other", { code: "flag_invalid" });
  const all: Record<string, unknown> = { ...others, allowOverage: allowOverage ?? overage };
  const given = LIMIT_ROWS.flatMap(([name, { flag, kind, least = 1 }]) => {
    const long = longName(flag);
    const value = all[attributeOf(long)];
    if (value === undefined) return [];
    return [[name, kind === "switch" ? value : PARSERS[kind](long, value as string, least)]];
  });
  return { ...base, ...Object.fromEntries(given) };
}

/** The limits that the `loop` section of the settings names. */
export function limitsOfSection(section: Record<string, unknown>): Partial<Limits> {
  const given = LIMIT_ROWS.flatMap(([name, { kind, setting }]) => {
    const value = setting === undefined ? undefined : section[setting];
    if (value === undefined) return [];
    const isDuration = kind === "duration" && value !== null;
    return [[name, isDuration ? (parseDuration(value as string | number) ?? null) : value]];
  });
  return Object.fromEntries(given);
}

/** `--max-cost` of `--max-cost <usd>`. */
export function longName(flag: string): string {
  return /--[\w-]+/.exec(flag)?.[0] ?? flag;
}

/** `--max-cost` is `maxCost`. */
export function attributeOf(long: string): string {
  return long.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `maxCost` is `--max-cost`. */
export function asFlag(attribute: string): string {
  return `--${attribute.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** A flag as commander hands it over, as words of a command line again. */
export function flagWords(attribute: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => flagWords(attribute, one));
  const flag = asFlag(attribute);
  if (typeof value === "boolean") return [value ? flag : `--no-${flag.slice(2)}`];
  return [`${flag}=${String(value)}`];
}

const PARSERS = { count: wholeNumber, usd: dollars, duration };

export function wholeNumber(flag: string, value: string, least: number): number {
  const number = /^\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw invalid(flag, value, `a whole number of at least ${least}`);
}

function dollars(flag: string, value: string): number {
  const number = /^\$?\d+(\.\d+)?$/.test(value.trim()) ? Number(value.trim().replace("$", "")) : Number.NaN;
  if (number > 0) return number;
  throw invalid(flag, value, "an amount in USD above 0, such as 2.50");
}

export function duration(flag: string, value: string, least = 1): number {
  const ms = parseDuration(value);
  if (ms !== undefined && ms >= least) return ms;
  throw invalid(flag, value, "a duration, such as 600 (seconds), 90s, 10m, 2h or 1d");
}

export function invalid(flag: string, value: string, expected: string): RalphError {
  return new RalphError(`${flag} ${value}: expected ${expected}`, { code: "flag_invalid" });
}

/** An empty value is most often a variable that was not set. */
export function saysSomething(flag: string, value: string): string {
  if (value.trim() === "") throw invalid(flag, '""', "something in it");
  return value;
}

/** `--worktree "fix it"`: a value that may be left out has taken the task. */
export function swallowed(worktree: string | boolean | undefined, command: string): string | undefined {
  if (typeof worktree !== "string") return undefined;
  const word = JSON.stringify(worktree);
  return `--worktree took ${word} for its own value; if that is the task, put it first: ${command} ${word} --worktree`;
}
