import type { IterationFinished, Limits } from "../events.js";
import type { RunState } from "../records/run-state.js";

/** How many states of the run are remembered. */
const MAX_RECENT = 6;

type Before = Pick<RunState, "alike" | "failure" | "tree" | "recent">;

/** What an iteration left behind. */
interface Left {
  /** The same word for failures of the same kind; undefined: it did not fail. */
  failure: string | undefined;
  tree: string | undefined;
}

export type Standstill = Pick<IterationFinished, "recent"> & { alike: number };

/**
 * How many iterations in a row, this one included, brought nothing new: no file changed, or the files went back
 * to a state they were in, and the checks said what they had said then.
 */
export function standstill(before: Before, { failure, tree }: Left): Standstill {
  if (failure === undefined || tree === undefined) return { alike: 0 };
  const known = before.tree === undefined ? [] : [stateWord(before.tree, before.failure)];
  const recent = [...before.recent, ...known].slice(-MAX_RECENT);
  if (tree !== before.tree) return { alike: hasBeen(recent, tree, failure) ? before.alike + 1 : 0, recent };
  return { alike: failure === before.failure ? before.alike + 1 : 1, recent };
}

/** In the state that the run began with, nobody knows what the checks said. */
function hasBeen(recent: string[], tree: string, failure: string): boolean {
  return recent.includes(tree) || recent.includes(stateWord(tree, failure));
}

function stateWord(tree: string, failure: string | undefined): string {
  return `${tree} ${failure ?? ""}`.trim();
}

/** How often the number of iterations was reached after which it is stuck. */
export function timesStuck({ alike }: Standstill, { stuckAfter }: Pick<Limits, "stuckAfter">): number {
  return stuckAfter === 0 ? 0 : Math.floor(alike / stuckAfter);
}
