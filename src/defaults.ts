import type { Limits } from "./events.js";

/** What holds where nobody has said anything else, for the command line and the library alike. */
export const DEFAULT_LIMITS: Limits = {
  maxIterations: 10,
  maxCostUsd: null,
  maxTokens: null,
  maxTimeMs: null,
  iterationTimeoutMs: null,
  inactivityTimeoutMs: 900_000,
  maxFailures: 5,
  stuckAfter: 3,
  waitForLimits: true,
  maxLimitWaitMs: 24 * 3_600_000,
  allowOverage: false,
};

/** Iterations of a loop over stories: about five of them, with their reviews. */
export const STORIES_ITERATIONS = 15;

/** The same for a loop over checks. */
export const LOOP_DEFAULTS = {
  maxIterations: 25,
  mostIterations: 100,
  completionTag: "COMPLETE",
  checkTimeoutMs: 120_000,
};
