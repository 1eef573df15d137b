import { shownSnapshot } from "./snapshot.js";
import type { StoriesSpec } from "./stories.js";
import type { Mode, TaskList } from "./tasks.js";

export interface Active {
  maxIterations: number;
  mode: Mode;
  before: TaskList;
  spec: StoriesSpec;
  /** Whether the agent works in a sandbox. */
  isShutIn: boolean;
}

/** What `.ralph-active` says of an iteration. ralph itself believes nothing that it reads there. */
export function activeText({ maxIterations, mode, before, spec, isShutIn }: Active): string {
  const payload = {
    timestamp: new Date().toISOString(),
    pid: process.pid,
    max_iterations: maxIterations,
    mode: isShutIn ? "sandbox" : "direct",
    skipReview: spec.skipReview,
    reviewCap: spec.reviewCap,
    iterationMode: mode,
    preIterationSnapshot: shownSnapshot(before),
  };
  return `${JSON.stringify(payload, null, 2)}\n`;
}
