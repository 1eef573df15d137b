import type { IterationFinished, Limits } from "../events.js";
import type { RunState } from "../records/run-state.js";

/** How many states of the run are remembered. */
const MAX_RECENT = 6;
/** The first attempt that was like another makes two of them. */
const HINT_AT = 2;

export type Standstill = Pick<IterationFinished, "recent"> & { alike: number };

/**
 * How many iterations in a row, this one included, brought nothing new: no file changed, or the files went back
 * to a state they were in, and the checks said what they had said then. `failure` is the same word for failures
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
  // What the checks said in the state that the run began with is not known.
  const hasBeen = recent.includes(tree) || recent.includes(stateWord(tree, failure));
  return { alike: hasBeen ? before.alike + 1 : 0, recent };
}

function stateWord(tree: string, failure: string | undefined): string {
  return `${tree} ${failure ?? ""}`.trim();
}

/** How often the number of iterations was reached after which it is stuck. */
export function timesStuck({ alike }: Standstill, { stuckAfter }: Limits): number {
  return stuckAfter === 0 ? 0 : Math.floor(alike / stuckAfter);
}

/** What the next agent is told when attempts begin to repeat; undefined: they do not. */
export function stuckHint({ alike }: Standstill, { stuckAfter }: Limits): string | undefined {
  if (stuckAfter === 0 || alike < HINT_AT) return undefined;
  return `The last ${alike} attempts failed alike; try another way. They changed nothing that lasted: find out why before you try again.`;
}

/** Why a run is given up as stuck, in one line. */
export function diagnosis(
  { alike }: Standstill,
  isBackAndForth: boolean,
  reason: string,
  escalated: string | undefined,
): string {
  const times = alike === 1 ? "1 iteration" : `${alike} iterations in a row`;
  const what = isBackAndForth
    ? `in ${times} the files only went back to a state that they were in before`
    : `${times} changed no file and failed alike`;
  const tried = escalated === undefined ? "" : `; ${escalated} could not help either`;
  return `${what}: ${reason}${tried}`;
}
