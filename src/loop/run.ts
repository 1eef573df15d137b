import type { Limits, LoopEventBody, StopReason } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { Effects } from "./effects.js";
import type { Recipe } from "./recipe.js";
import type { Stopwatch } from "./stopwatch.js";

export interface LoopOptions {
  limits: Limits;
  agent: string;
  /** Name of the variable with the agent's key, if one is set. */
  credentials: string | null;
  workspace: string;
  /** What agents and checks leave running is left alone. */
  background?: "keep";
  /** Names of the other agents of the run, by their roles. */
  others?: Record<string, string>;
}

/** A loop at work: what it was given, and where it stands. */
export interface Run {
  recipe: Recipe;
  effects: Effects;
  options: LoopOptions;
  /** Always up to date: every event is taken into it before the loop goes on. */
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

export function limitsOf({ effects, options }: Pick<Run, "effects" | "options">): Limits {
  return effects.limits?.() ?? options.limits;
}

export function standing({ iterations, activeMs }: Pick<RunState, "iterations" | "activeMs">): {
  iterations: number;
  activeMs: number;
} {
  return { iterations, activeMs: Math.round(activeMs) };
}
