import type { IterationFinished, LoopEvent } from "../events.js";
import { openTrees } from "../workspace/trees.js";
import type { RunContext } from "./spec.js";

/** An iteration that is shorter takes less time than reading all files would. */
const LEAST_MS = 25;

/** Records the files before the first iteration and after each that may have changed some, for `ralph diff`. */
export function treeRecorder({ spec, folder }: Pick<RunContext, "spec" | "folder">) {
  const trees = openTrees(spec.workspace, folder.path, spec.copied ?? []);
  /** The latest fingerprint of the files, where the loop knows it. */
  let known: string | undefined;
  const mayHaveChanged = ({ tree, stop, durationMs }: IterationFinished): boolean =>
    tree === undefined ? stop !== undefined || durationMs >= LEAST_MS : tree !== known;
  return async (event: LoopEvent): Promise<void> => {
    if (event.type === "iteration.started") {
      if (event.iteration === 1) await trees?.begin();
      known = event.tree ?? known;
    }
    if (event.type !== "iteration.finished") return;
    if (mayHaveChanged(event)) await trees?.take(event.iteration);
    known = event.tree;
  };
}
