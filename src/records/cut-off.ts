import { killTree } from "../process/kill.js";
import { markersSince } from "../process/run.js";
import type { RunState } from "./run-state.js";
import { RUN_VARIABLE } from "./runs.js";

const GRACE_MS = 2000;

/**
 * Ends what outlived runs that were killed: agents and checks that were never told to have ended. What a call left
 * running that came to its end is left alone. Returns when the first of those calls began, in milliseconds;
 * undefined: none was cut off.
 */
export async function endCutOff(states: RunState[]): Promise<number | undefined> {
  const begun: number[] = [];
  for (const { run, startedAt, status, calls, lastAt } of states) {
    if (startedAt === "" || status === "finished") continue;
    const since = Date.parse(calls?.since ?? lastAt);
    const markers = markersSince(`${RUN_VARIABLE}=${run}`, since);
    await Promise.all(markers.map((marker) => killTree({ marker }, GRACE_MS)));
    begun.push(since);
  }
  return begun.length === 0 ? undefined : Math.min(...begun);
}
