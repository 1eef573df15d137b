import type { Clock } from "./effects.js";

/** Time that a run was at work: earlier processes included, pauses not, whatever is done to the clock. */
export interface Stopwatch {
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
