import type { Limits } from "../events.js";
import type { Standstill } from "./stuck.js";

type Counted = Pick<Standstill, "alike" | "repeats">;

/** The first attempt that was like another makes two of them. */
const HINT_AT = 2;

/** What the next agent is told when attempts begin to repeat; undefined: they do not. */
export function stuckHint(
  { alike, repeats }: Counted,
  { stuckAfter }: Pick<Limits, "stuckAfter">,
): string | undefined {
  if (stuckAfter === 0 || !(alike >= HINT_AT || repeats > stuckAfter)) return undefined;
  return alike >= HINT_AT
    ? `The last ${alike} attempts failed alike; try another way. They changed nothing that lasted: find out why before you try again.`
    : `The last ${repeats} attempts failed and ended with the same words; try another way. Find out why they did not help before you try again.`;
}

/** Why a run is given up as stuck, in one line. */
export function diagnosis(
  { alike, repeats }: Counted,
  { stuckAfter }: Pick<Limits, "stuckAfter">,
  {
    isBackAndForth,
    reason,
    escalated,
  }: { isBackAndForth: boolean; reason: string; escalated?: string | undefined },
): string {
  const what = alike >= stuckAfter ? sameFiles(alike, isBackAndForth) : sameWords(repeats);
  const tried = escalated === undefined ? "" : `; ${escalated} could not help either`;
  return `${what}: ${reason}${tried}`;
}

function sameFiles(alike: number, isBackAndForth: boolean): string {
  return isBackAndForth
    ? `in ${times(alike)} the files only went back to a state that they were in before`
    : `${times(alike)} changed no file and failed alike`;
}

function sameWords(repeats: number): string {
  return `${times(repeats)} failed and ended with the same message`;
}

function times(count: number): string {
  return count === 1 ? "1 iteration" : `${count} iterations in a row`;
}
