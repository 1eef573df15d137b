import type { RunState } from "../state/run-state.js";

/** How many iterations in a row, this one included, changed no file and failed in the same way. */
export function countAlike(
  before: Pick<RunState, "alike" | "failure" | "tree">,
  failure: string | undefined,
  tree: string | undefined,
): number {
  if (failure === undefined || tree === undefined || tree !== before.tree) return 0;
  return before.alike > 0 && failure !== before.failure ? 1 : before.alike + 1;
}
