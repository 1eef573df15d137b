import { readFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../../errors.js";
import { refuseSpecialFile } from "../../plain-file.js";
import { boardOf, DEFAULT_REVIEW_CAP, type ReviewRules, storyFiles } from "../../recipes/stories/state.js";
import { readTasks } from "../../recipes/stories/tasks.js";
import { addStories, type Report } from "../../records/report.js";
import type { RunFolder } from "../../records/runs.js";
import type { StoryCard } from "../api.js";

/** Where the stories of a run stand: as its list has them, else as far as its journal tells. */
export function storyCards(run: RunFolder, { stories }: Report): StoryCard[] {
  const { workspace, recipe } = run.shown();
  if (recipe.kind !== "stories") return [];
  const file = join(workspace, storyFiles(recipe.dir ?? "").tasks);
  // An agent may have put anything there.
  const text = orElse(() => textOf(file), undefined);
  const { tasks } = readTasks(text);
  if (tasks === undefined)
    return stories.map(({ state, ...story }) => ({ ...story, state: state ?? "todo", dependsOn: [] }));
  const { skipReview = false, reviewCap = DEFAULT_REVIEW_CAP } = recipe as Partial<ReviewRules>;
  const board = boardOf(tasks, { skipReview, reviewCap }, null, addStories([stories]));
  return board.stories.map(({ iterations = 0, costUsd = null, ...story }) => ({
    ...story,
    iterations,
    costUsd,
  }));
}

function textOf(file: string): string {
  refuseSpecialFile(file);
  return readFileSync(file, "utf8");
}
