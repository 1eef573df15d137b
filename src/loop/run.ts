import type { Limits, LoopEventBody, StopReason } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { Budget, Clock, Effects, Remaining } from "./effects.js";
import type { Recipe } from "./recipe.js";

export interface LoopOptions {
  /** What people call the run. */
  name?: string;
  limits: Limits;
  agent: string;
  /** Name of the variable with the agent's key, if one is set. */
  credentials: string | null;
  workspace: string;
  /** Leave alone what agents and checks leave running. */
  background?: "keep";
  /** Names of the other agents of the run, by their roles. */
  others?: Record<string, string>;
}

/** A loop at work: what it was given, and where it stands. */
export interface Run {
  recipe: Recipe;
  effects: Effects;
  options: LoopOptions;
  /** Always up to date: every event is folded into it before the loop goes on. */
  state: RunState;
  stopwatch: Stopwatch;
}

export type Events<Result> = AsyncGenerator<LoopEventBody, Result>;

export interface Stop {
  reason: StopReason;
  message?: string | undefined;
  /** Whether a resume would end in the same way. */
  isFinal?: boolean;
}

/** Time that a run was at work: earlier processes included, pauses not, whatever is done to the clock. */
interface Stopwatch {
  activeMs(): number;
  skip(ms: number): void;
}

export function startStopwatch(clock: Clock, alreadyMs: number): Stopwatch {
  let since = clock.elapsed() - alreadyMs;
  return {
    activeMs: () => clock.elapsed() - since,
    skip: (ms) => {
      since += ms;
    },
  };
}

/** The limits as they are now: some of them can be changed while the loop runs. */
export function limitsOf({ effects, options }: Run): Limits {
  return effects.limits?.() ?? options.limits;
}

type LimitUse = Pick<RunState, "iterations" | "costUsd" | "inputTokens" | "outputTokens" | "activeMs">;

/** What the next agent of a run may spend. */
export function budgetOf(run: Run): Budget {
  return { remaining: remaining(usedBy(run), limitsOf(run)), pricePerToken: run.state.pricePerToken };
}

export function usedBy({ state, stopwatch }: Run): LimitUse {
  const { iterations, costUsd, inputTokens, outputTokens } = state;
  return { iterations, costUsd, inputTokens, outputTokens, activeMs: stopwatch.activeMs() };
}

/** The first limit that leaves nothing for another iteration. */
export function limitReached(used: LimitUse, limits: Limits): StopReason | undefined {
  const { costUsd, tokens, timeMs } = remaining(used, limits);
  if (used.iterations >= limits.maxIterations) return "max_iterations";
  if (costUsd !== undefined && costUsd <= 0) return "budget_exhausted";
  if (tokens !== undefined && tokens <= 0) return "budget_exhausted";
  return timeMs !== undefined && timeMs <= 0 ? "timeout" : undefined;
}

function remaining(used: LimitUse, limits: Limits): Remaining {
  const left = (limit: number | null, amount: number): number | undefined =>
    limit === null ? undefined : limit - amount;
  return {
    costUsd: exactly(left(limits.maxCostUsd, used.costUsd ?? 0)),
    tokens: left(limits.maxTokens, used.inputTokens + used.outputTokens),
    timeMs: left(limits.maxTimeMs, used.activeMs),
  };
}

/** To the millionth of a dollar: 0.3 less 0.1 is 0.2, and not 0.19999999999999998. */
function exactly(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Number(usd.toFixed(6));
}
