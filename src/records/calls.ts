import type { LoopEvent } from "../events.js";
import type { RunState } from "./run-state.js";

/** Agents and checks that were started and not yet told to have ended. */
export interface Calls {
  since: string;
  /** Checks can run at the same time. */
  open: number;
}

type Standing = Pick<RunState, "calls">;

export function begun({ calls }: Standing, { ts }: LoopEvent): Standing {
  return { calls: { since: calls?.since ?? ts, open: (calls?.open ?? 0) + 1 } };
}

export function ended({ calls }: Standing): Standing {
  return { calls: calls === undefined || calls.open <= 1 ? undefined : { ...calls, open: calls.open - 1 } };
}
