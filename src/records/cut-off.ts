import { killTree } from "../process/kill.js";
import { markersSince } from "../process/run.js";
import type { RunState } from "./run-state.js";
import { RUN_VARIABLE } from "./runs.js";

const GRACE_MS = 2000;

/**
 * Ends the agents and checks that outlived runs that were killed. What a call left running that has ended is left
 * alone. Returns when the first of those calls began, in milliseconds; undefined: none was cut off.
 */
export async function endCutOff(states: RunState[]): Promise<number | undefined> {
  const open = states.filter(({ startedAt, status }) => startedAt !== "" && status !== "finished");
  const begun = open.map(({ calls, lastAt }) => Date.parse(calls?.since ?? lastAt));
  const markers = open.flatMap(({ run }, at) => markersSince(`${RUN_VARIABLE}=${run}`, begun[at] as number));
  await Promise.all(markers.map((marker) => killTree({ marker }, GRACE_MS)));
  return begun.length === 0 ? undefined : Math.min(...begun);
}
