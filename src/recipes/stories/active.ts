import { join } from "node:path";
import { z } from "zod";
import { textAt } from "../../workspace/content.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import { STORIES_FOLDER, type StoriesRun, storyFiles } from "./run.js";
import { DEFAULT_REVIEW_CAP } from "./state.js";
import { StorySchema, treeIn } from "./tasks.js";
import type { Rules } from "./transitions.js";
import type { Turn } from "./turn.js";

/** What `.ralph-active` says of an iteration. The loop itself believes nothing that it reads there. */
export function activeText({ spec, isShutIn }: StoriesRun, { mode, before }: Turn, maxIterations: number) {
  const payload = {
    timestamp: new Date().toISOString(),
    pid: process.pid,
    max_iterations: maxIterations,
    mode: isShutIn ? "sandbox" : "direct",
    skipReview: spec.skipReview,
    reviewCap: spec.reviewCap,
    iterationMode: mode,
    preIterationSnapshot: Object.fromEntries(
      before.userStories.map(({ id, passes, reviewStatus, reviewCount }) => [
        id,
        { passes, reviewStatus, reviewCount },
      ]),
    ),
  };
  return `${JSON.stringify(payload, null, 2)}\n`;
}

/** The snapshot makes sense as a whole, or none of it is used: a missing story would look like a new one. */
const Active = z.object({
  skipReview: z.boolean().catch(false),
  reviewCap: z.int().catch(DEFAULT_REVIEW_CAP),
  iterationMode: z.enum(["implement", "review", "review-fix"]).optional().catch(undefined),
  preIterationSnapshot: z
    .record(z.string(), StorySchema.pick({ passes: true, reviewStatus: true, reviewCount: true }))
    .optional()
    .catch(undefined),
});

/** The text of tasks.json in a workspace, and the rules that `.ralph-active` gives for it. */
export function readActive(workspace: string): { tasks: string | undefined; rules: Rules } {
  const active = Active.parse(treeIn(textAt(join(workspace, ACTIVE_FILE))));
  const { skipReview, reviewCap, iterationMode: mode, preIterationSnapshot: before } = active;
  const userStories = Object.entries(before ?? {}).map(([id, story]) => ({ id, ...story }));
  const held = mode !== undefined && before !== undefined && { mode, before: { userStories } };
  const tasks = textAt(join(workspace, storyFiles(STORIES_FOLDER).tasks));
  return { tasks, rules: { skipReview, reviewCap, ...held } };
}
