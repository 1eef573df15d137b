import type { Limits } from "../events.js";
import type { Standstill } from "./stuck.js";

/** The first attempt that was like another makes two of them. */
const HINT_AT = 2;

/** What the next agent is told when attempts begin to repeat; undefined: they do not. */
export function stuckHint(
  { alike }: Pick<Standstill, "alike">,
  { stuckAfter }: Pick<Limits, "stuckAfter">,
): string | undefined {
  if (stuckAfter === 0 || alike < HINT_AT) return undefined;
  return `The last ${alike} attempts failed alike; try another way. They changed nothing that lasted: find out why before you try again.`;
}

/** Why a run is given up as stuck, in one line. */
export function diagnosis(
  { alike }: Pick<Standstill, "alike">,
  {
    isBackAndForth,
    reason,
    escalated,
  }: { isBackAndForth: boolean; reason: string; escalated?: string | undefined },
): string {
  const times = alike === 1 ? "1 iteration" : `${alike} iterations in a row`;
  const what = isBackAndForth
    ? `in ${times} the files only went back to a state that they were in before`
    : `${times} changed no file and failed alike`;
  const tried = escalated === undefined ? "" : `; ${escalated} could not help either`;
  return `${what}: ${reason}${tried}`;
}
