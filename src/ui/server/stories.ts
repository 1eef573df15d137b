import { readFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../../errors.js";
import { refuseSpecialFile } from "../../plain-file.js";
import { boardOf, DEFAULT_REVIEW_CAP, type ReviewRules, storyFiles } from "../../recipes/stories/state.js";
import { readTasks } from "../../recipes/stories/tasks.js";
import { addStories, type Report } from "../../records/report.js";
import type { RunFolder } from "../../records/runs.js";
import { lookOfRun } from "../../views/report/page.js";
import type { Look } from "../../views/report/shapes.js";
import type { StateCard, StoryCard } from "../api.js";

/** Where the stories of a run stand: as its list has them, else as far as its journal tells. */
export function storyCards(run: RunFolder, { stories, lanes }: Report): StoryCard[] {
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
  // Lanes work on lists of their own, which come into this one when the branch of the run has landed.
  const inLanes = new Map(lanes && stories.map((story) => [story.story, story]));
  return board.stories.map(({ iterations = 0, costUsd = null, ...story }) => {
    const { state, reviews, atCap } = inLanes.get(story.story) ?? story;
    return { ...story, iterations, costUsd, state: state ?? story.state, reviews, atCap };
  });
}

/** The states of a pipeline in their order, with what has become of each. */
export function stateCards(run: RunFolder, report: Report): StateCard[] {
  const { recipe } = run.shown();
  const { iterations } = report;
  const { states = [] } = recipe as { states?: { name: string; goal?: string; command?: string }[] };
  if (recipe.kind !== "pipeline") return [];
  const left = new Map(
    iterations.flatMap((one) => one.states.map(({ from, to }): [string, string] => [from, to])),
  );
  const lookOf = (name: string): Look => {
    const to = left.get(name);
    if (to !== undefined) return to === "GUTTER" ? "failed" : "passed";
    return iterations.at(-1)?.mode === name ? lookOfRun(report) : "not-run";
  };
  return states.map(({ name, goal = "", command: gate = "" }) => {
    const own = iterations.filter(({ mode }) => mode === name).map(({ iteration }) => iteration);
    return { ...{ name, goal, gate }, look: lookOf(name), iterations: own };
  });
}

function textOf(file: string): string {
  refuseSpecialFile(file);
  return readFileSync(file, "utf8");
}
