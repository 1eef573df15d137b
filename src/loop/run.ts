import type { Limits, LoopEventBody, RunStarted, StopReason } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { Budget, Clock, Effects, Remaining } from "./effects.js";
import type { Recipe } from "./recipe.js";

export interface LoopOptions
  extends Pick<RunStarted, "name" | "limits" | "agent" | "credentials" | "workspace" | "background"> {
  /** Names of the run's other agents, by role. */
  others?: Record<string, string>;
}

/** A running loop: its input and its state. */
export interface Run {
  recipe: Recipe;
  effects: Effects;
  options: LoopOptions;
  /** Always current: the loop folds every event into it before it continues. */
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

/** Measures active time: earlier processes included, pauses excluded, and no change of the clock matters. */
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

/** The limits as they are now: some can change while the loop runs. */
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

/** Rounds to a millionth of a dollar: 0.3 less 0.1 is 0.2, not 0.19999999999999998. */
function exactly(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Number(usd.toFixed(6));
}
