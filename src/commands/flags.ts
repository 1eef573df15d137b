import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";
import type { SandboxChoice } from "../run/sandbox.js";

/** The safety nets, as commander hands them over: still text. */
export interface SafetyNetFlags {
  maxIterations?: string;
  maxCost?: string;
  maxTokens?: string;
  maxTime?: string;
  iterationTimeout?: string;
  inactivityTimeout?: string;
  maxFailures?: string;
  stuckAfter?: string;
  waitForLimits?: boolean;
  maxLimitWait?: string;
  allowOverage?: boolean;
  /** false: `--no-overage`; true is another word for `--allow-overage`. */
  overage?: boolean;
  fallbackAgent?: string[];
  escalateModel?: string;
  /** What agents and checks leave running is left alone. */
  keepBackground?: boolean;
  /** true: one that works, whichever; false: none. */
  sandbox?: string | boolean;
}

/** `base` with every flag that was given on top. */
export function limitsFrom(flags: SafetyNetFlags, base: Limits): Limits {
  const given = <T>(value: string | undefined, parse: (value: string) => T, otherwise: T): T =>
    value === undefined ? otherwise : parse(value);
  return {
    maxIterations: given(
      flags.maxIterations,
      (v) => wholeNumber("--max-iterations", v, 1),
      base.maxIterations,
    ),
    maxCostUsd: given(flags.maxCost, (v) => dollars("--max-cost", v), base.maxCostUsd),
    maxTokens: given(flags.maxTokens, (v) => wholeNumber("--max-tokens", v, 1), base.maxTokens),
    maxTimeMs: given(flags.maxTime, (v) => duration("--max-time", v), base.maxTimeMs),
    iterationTimeoutMs: given(
      flags.iterationTimeout,
      (v) => duration("--iteration-timeout", v),
      base.iterationTimeoutMs,
    ),
    inactivityTimeoutMs: given(
      flags.inactivityTimeout,
      (v) => duration("--inactivity-timeout", v, 0),
      base.inactivityTimeoutMs,
    ),
    maxFailures: given(flags.maxFailures, (v) => wholeNumber("--max-failures", v, 1), base.maxFailures),
    stuckAfter: given(flags.stuckAfter, (v) => wholeNumber("--stuck-after", v, 0), base.stuckAfter),
    waitForLimits: flags.waitForLimits ?? base.waitForLimits,
    maxLimitWaitMs: given(flags.maxLimitWait, (v) => duration("--max-limit-wait", v), base.maxLimitWaitMs),
    allowOverage: overageFrom(flags) ?? base.allowOverage,
  };
}

/** `--worktree "fix it"`: a value that may be left out has taken the task. */
export function swallowed(
  { worktree }: { worktree?: string | boolean },
  command: string,
): string | undefined {
  if (typeof worktree !== "string") return undefined;
  const word = JSON.stringify(worktree);
  return `--worktree took ${word} for its own value; if that is the task, put it first: ${command} ${word} --worktree`;
}

function overageFrom({ allowOverage, overage }: SafetyNetFlags): boolean | undefined {
  if (allowOverage && overage === false) {
    throw new RalphError("--allow-overage and --no-overage exclude each other", { code: "flag_invalid" });
  }
  return allowOverage ?? overage;
}

/** `ralph loop` goes round a hundred times at the most. */
export function checkedFor(mostIterations: number | undefined, limits: Limits): Limits {
  if (mostIterations === undefined || limits.maxIterations <= mostIterations) return limits;
  const expected = `a whole number from 1 to ${mostIterations}`;
  throw invalid("--max-iterations", String(limits.maxIterations), expected);
}

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

/** What is asked of no check tells nothing. */
export function baselineWarnings(isAsked: boolean | undefined, checks: number): string[] {
  return isAsked && checks === 0 ? ["--baseline: there is no check to run"] : [];
}

const SANDBOXES = ["auto", "docker", "srt", "none"] as const;

/** undefined where nothing was said. */
export function sandboxFrom({ sandbox }: SafetyNetFlags): SandboxChoice | undefined {
  if (sandbox === undefined) return undefined;
  if (typeof sandbox === "boolean") return sandbox ? "any" : "none";
  const kind = SANDBOXES.find((name) => name === sandbox);
  if (kind !== undefined) return kind;
  const kinds = SANDBOXES.join(", ").replace(/, (?=\w+$)/, " or ");
  const more = sandbox === "sbx" ? "; docker is sbx where that is installed" : "";
  throw invalid("--sandbox", sandbox, `${kinds}${more}`);
}

/** Who takes over when an agent is limited, down or stuck. */
export function netFlags({
  fallbackAgent,
  escalateModel,
}: Pick<SafetyNetFlags, "fallbackAgent" | "escalateModel">) {
  return {
    fallbackAgents: fallbackAgent?.map((agent) => saysSomething("--fallback-agent", agent)),
    escalateModel: escalateModel === undefined ? undefined : saysSomething("--escalate-model", escalateModel),
  };
}

/** An empty value is most often a variable that was not set. */
export function saysSomething(flag: string, value: string): string {
  if (value.trim() === "") throw invalid(flag, '""', "something in it");
  return value;
}
