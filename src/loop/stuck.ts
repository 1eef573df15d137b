import type { IterationFinished, Limits } from "../events.js";
import { normalForm } from "../normal-form.js";
import { digest } from "../state/digest.js";
import type { RunState } from "../state/run-state.js";

/** How many states of the files are remembered. */
const MAX_RECENT = 6;

type Before = Pick<RunState, "alike" | "repeats" | "failure" | "tree" | "recent" | "said" | "escalated">;

/** What an iteration left behind. */
export interface Left {
  /** The same word for failures of the same kind; undefined: it did not fail. */
  failure: string | undefined;
  tree: string | undefined;
  finalMessage: string;
}

export type Standstill = Pick<IterationFinished, "recent" | "said"> & { alike: number; repeats: number };

/** How many iterations in a row, this one included, brought nothing new. */
export async function standstill(before: Before, { failure, tree, finalMessage }: Left): Promise<Standstill> {
  if (failure === undefined || tree === undefined) return { alike: 0, repeats: 0 };
  const recent = [...before.recent, ...(before.tree === undefined ? [] : [before.tree])].slice(-MAX_RECENT);
  const said = await digest(normalForm(finalMessage).trim());
  const repeats = finalMessage.trim() !== "" && said === before.said ? before.repeats + 1 : 1;
  return { alike: countAlike(before, failure, tree), repeats, recent, said };
}

/** Nothing was changed and it failed in the same way, or the files are back in a state that they were in. */
function countAlike(before: Before, failure: string, tree: string): number {
  if (tree !== before.tree) return before.recent.includes(tree) ? before.alike + 1 : 0;
  return before.alike > 0 && failure !== before.failure ? 1 : before.alike + 1;
}

/** The same words again prove less than files that do not change. */
const REPEATS = 2;

/** How often the number of iterations was reached after which it is stuck. */
export function timesStuck(
  { alike, repeats }: Standstill,
  { stuckAfter }: Pick<Limits, "stuckAfter">,
): number {
  if (stuckAfter === 0) return 0;
  return Math.max(Math.floor(alike / stuckAfter), Math.floor(repeats / stuckAfter) - REPEATS + 1);
}
