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
  key?: string;
  loopKey?: string;
}

/** What a limit is counted in, by the value of its flag. */
const KINDS = { n: "count", usd: "usd", s: "duration", duration: "duration" } as const;

function limit<Value>(
  flag: string,
  help: string,
  value: Value,
  more: Pick<LimitRow<Value>, "shown" | "least" | "no" | "key" | "loopKey"> = {},
): LimitRow<Value> {
  const unit = /<(\w+)>/.exec(flag)?.[1] as keyof typeof KINDS | undefined;
  return { kind: unit === undefined ? "switch" : KINDS[unit], flag, help, default: value, ...more };
}

const DAY_MS = 24 * 3_600_000;

const LIMITS: { [Name in keyof Limits]: LimitRow<Limits[Name]> } = {
  maxIterations: limit("-n, --max-iterations <n>", "stop after this many iterations", 10, {
    key: "maxIterations",
    loopKey: "max_iterations",
  }),
  maxCostUsd: limit("--max-cost <usd>", "stop when the run has cost this much", null, {
    key: "maxCost",
    loopKey: "max_cost",
  }),
  maxTokens: limit("--max-tokens <n>", "stop when the run has used this many tokens", null),
  maxTimeMs: limit("--max-time <duration>", "stop after this time: 600 (seconds), 90s, 10m, 2h or 1d", null, {
    key: "maxTime",
    loopKey: "max_time",
  }),
  iterationTimeoutMs: limit(
    "--iteration-timeout <duration>",
    "end an agent that takes longer for one iteration",
    null,
  ),
  inactivityTimeoutMs: limit(
    "--inactivity-timeout <s>",
    "end an agent that does nothing for this long; 0: never",
    900_000,
    { shown: "900", least: 0 },
  ),
  maxFailures: limit("--max-failures <n>", "stop after this many failed iterations in a row", 5),
  stuckAfter: limit("--stuck-after <n>", "stop after this many iterations without progress; 0: never", 3, {
    least: 0,
  }),
  waitForLimits: limit("--wait-for-limits", "wait until a usage limit resets", true, {
    no: ["--no-wait-for-limits", "stop at a usage limit"],
  }),
  maxLimitWaitMs: limit("--max-limit-wait <duration>", "wait at most this long", DAY_MS, {
    shown: "24h",
  }),
  allowOverage: limit("--allow-overage", "allow paid extra usage", false, {
    no: ["--no-overage", "treat paid extra usage as a usage limit"],
  }),
};

export const LIMIT_ROWS = Object.entries(LIMITS) as [keyof Limits, LimitRow<Limits[keyof Limits]>][];

/** What holds where nobody has said anything else, for the command line and the library alike. */
export const DEFAULT_LIMITS = Object.fromEntries(
  LIMIT_ROWS.map(([name, row]) => [name, row.default]),
) as unknown as Limits;

/** The other settings of a project without a settings file: apart from the schema, which it does not load. */
export const DEFAULTS = {
  completionResponse: "DONE",
  outputTruncateChars: 5000,
  streamAgentOutput: true,
  includeIterationCountInPrompt: false,
  checks: [],
};

/** How long a check may take, in every recipe. */
export const CHECK_TIMEOUT_MS = 10 * 60_000;

/** More confirmations would only cost time: what is still unsure after so many is not settled by one more. */
export const MOST_CONFIRMATIONS = 20;

export const LOOP_DEFAULTS = { maxIterations: 25, mostIterations: 100, completionTag: "COMPLETE" };

/** Iterations of a loop over stories: about five of them, with their reviews. */
export const STORIES_ITERATIONS = 15;

/** `base` with every flag that was given on top; commander hands them over as text. */
export function limitsFrom(flags: object, base: Limits): Limits {
  const given = LIMIT_ROWS.flatMap(([name, { flag, kind, least = 1 }]) => {
    const long = longName(flag);
    const value: unknown = Reflect.get(flags, attributeOf(long));
    if (value === undefined) return [];
    return [[name, kind === "switch" ? value : PARSERS[kind](long, value as string, least)]];
  });
  return { ...base, ...Object.fromEntries(given) };
}

/** The limits that hold before any flag: the defaults, those of the recipe, and those of the settings. */
export function limitsOf(settings: object, own: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, ...own, ...limitsIn(settings, "key") };
}

/** The same for `ralph loop`, where its own section of the settings wins. */
export function loopLimits(settings: object, section: object): Limits {
  const { maxIterations, mostIterations } = LOOP_DEFAULTS;
  const limits = limitsOf(settings, { maxIterations });
  // What every recipe may do is more than a loop may.
  const most = Math.min(limits.maxIterations, mostIterations);
  return { ...limits, maxIterations: most, ...limitsIn(section, "loopKey") };
}

function limitsIn(section: object, where: "key" | "loopKey"): Partial<Limits> {
  const given = LIMIT_ROWS.flatMap(([name, { kind, [where]: key = "" }]) => {
    const value: unknown = Reflect.get(section, key);
    if (value === undefined) return [];
    return [[name, kind === "duration" ? (parseDuration(value as string | number) ?? null) : value]];
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
  const { no = [`--no-${flag.slice(2)}`] } = LIMIT_ROWS.find(([name]) => name === attribute)?.[1] ?? {};
  if (typeof value === "boolean") return [value ? flag : no[0]];
  return [`${flag}=${String(value)}`];
}

const PARSERS = {
  count: wholeNumber,
  usd: dollars,
  duration,
};

export function dollars(flag: string, value: string): number {
  const number = /^\$?\d+(\.\d+)?$/.test(value.trim()) ? Number(value.trim().replace("$", "")) : Number.NaN;
  if (number > 0) return number;
  throw invalid(flag, value, "an amount in USD above 0, such as 2.50");
}

export function wholeNumber(flag: string, value: string, least: number, most?: number): number {
  const number = /^\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least && number <= (most ?? number)) return number;
  const expected = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  throw invalid(flag, value, `a whole number ${expected}`);
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
  if (value.trim() === "") throw invalid(flag, '""', "text");
  return value;
}

/** `--worktree "fix it"`: a value that may be left out has taken the task. */
export function swallowed(worktree: string | boolean | undefined, command: string): string | undefined {
  if (typeof worktree !== "string") return undefined;
  const word = JSON.stringify(worktree);
  return `--worktree took ${word} for its own value; if that is the task, put it first: ${command} ${word} --worktree`;
}
