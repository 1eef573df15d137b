import type { IterationFinished, Limits } from "../events.js";
import type { RunState } from "../records/run-state.js";

/** How many states of the run the loop remembers. */
const MAX_RECENT = 6;
/** Two like attempts: the one before, and this one. */
const HINT_AT = 2;

export type Standstill = Pick<IterationFinished, "recent"> & { alike: number };

/**
 * How many iterations in a row, including this one, brought nothing new: no file changed, or the files
 * returned to an earlier state, and the checks said what they had said then. `failure` is equal for failures
 * of the same kind; undefined: the iteration did not fail.
 */
export function standstill(
  before: Pick<RunState, "alike" | "failure" | "tree" | "recent">,
  { failure, tree }: Partial<Pick<RunState, "failure" | "tree">>,
): Standstill {
  if (failure === undefined || tree === undefined) return { alike: 0 };
  const known = before.tree === undefined ? [] : [stateWord(before.tree, before.failure)];
  const recent = [...before.recent, ...known].slice(-MAX_RECENT);
  if (tree === before.tree) return { alike: failure === before.failure ? before.alike + 1 : 1, recent };
  // Nobody knows what the checks would have said about the initial files.
  const hasBeen = recent.includes(tree) || recent.includes(stateWord(tree, failure));
  return { alike: hasBeen ? before.alike + 1 : 0, recent };
}

function stateWord(tree: string, failure: string | undefined): string {
  return `${tree} ${failure ?? ""}`.trim();
}

/** How often the run has reached the number of like iterations that means stuck. */
export function timesStuck({ alike }: Standstill, { stuckAfter }: Limits): number {
  return stuckAfter === 0 ? 0 : Math.floor(alike / stuckAfter);
}

/** A hint for the next agent when attempts begin to repeat; otherwise undefined. */
export function stuckHint({ alike }: Standstill, { stuckAfter }: Limits): string | undefined {
  if (stuckAfter === 0 || alike < HINT_AT) return undefined;
  return `The last ${alike} attempts failed in the same way; try another way. They changed nothing that lasted: find out why before you try again.`;
}

/** Why ralph gives a run up as stuck, in one line. */
export function diagnosis(
  { alike }: Standstill,
  isBackAndForth: boolean,
  reason: string,
  escalated: string | undefined,
): string {
  const times = alike === 1 ? "1 iteration" : `${alike} iterations in a row`;
  const what = isBackAndForth
    ? `in ${times} the files only returned to an earlier state`
    : `${times} changed no file and failed in the same way`;
  const tried = escalated === undefined ? "" : `; ${escalated} could not help either`;
  return `${what}: ${reason}${tried}`;
}
