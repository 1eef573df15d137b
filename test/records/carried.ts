import type { RunState } from "../../src/records/run-state.js";

/** A state without what `iteration.finished` does not carry over: it is about the iteration at work alone. */
export function carried(state: RunState) {
  const { iteration: _, retries: __, asked: ___, strongerCalls: ____, finished: _____, ...rest } = state;
  return rest;
}
