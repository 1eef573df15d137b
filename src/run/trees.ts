import { join } from "node:path";
import type { IterationFinished, LoopEvent } from "../events.js";
import { readJson } from "../records/files.js";
import type { RunState } from "../records/run-state.js";
import { laneFolder } from "../records/runs.js";
import { openTrees } from "../workspace/trees.js";
import type { RunContext } from "./spec.js";

/** An iteration that is shorter takes less time than reading all files would. */
const LEAST_MS = 25;

type Recorder = (event: LoopEvent) => Promise<void>;

/** Records the files before the first iteration and after each that may have changed some, for `ralph diff`. */
export function treeRecorder(
  { spec, folder }: Pick<RunContext, "spec" | "folder">,
  state: Readonly<RunState>,
) {
  const recorders = new Map<string | undefined, Recorder>();
  const open = (lane: string | undefined): Recorder => {
    if (lane === undefined) return recorderIn(spec.workspace, folder.path, spec.copied ?? []);
    const { path } = laneFolder(folder, lane);
    return recorderIn(state.lanes?.[lane]?.worktree ?? spec.workspace, path, copiedInto(path) ?? []);
  };
  return async (event: LoopEvent): Promise<void> => {
    const recorder = recorders.get(event.lane) ?? open(event.lane);
    recorders.set(event.lane, recorder);
    await recorder(event);
  };
}

function recorderIn(workspace: string, path: string, hidden: string[]): Recorder {
  const trees = openTrees(workspace, path, hidden);
  /** The latest fingerprint of the files, where the loop knows it. */
  let known: string | undefined;
  const mayHaveChanged = ({ tree, stop, durationMs }: IterationFinished): boolean =>
    tree === undefined ? stop !== undefined || durationMs >= LEAST_MS : tree !== known;
  return async (event) => {
    if (event.type === "iteration.started") {
      if (event.iteration === 1) await trees?.begin();
      known = event.tree ?? known;
    }
    if (event.type !== "iteration.finished") return;
    if (mayHaveChanged(event)) await trees?.take(event.iteration);
    known = event.tree;
  };
}

/** The file that says what was copied into the checkout of a lane. */
export function copiedFile(records: string): string {
  return join(records, "copied.json");
}

/** undefined: the checkout was not made to its end. */
export function copiedInto(records: string): string[] | undefined {
  const known = readJson(copiedFile(records));
  return Array.isArray(known) ? known.map(String) : undefined;
}
