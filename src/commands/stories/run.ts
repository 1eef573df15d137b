import { existsSync } from "node:fs";
import { join } from "node:path";
import { putBackUnverified, type Unverified } from "../../recipes/stories/cut-off.js";
import { existingStories, type PlaceFlags, type StoriesPlace } from "../../recipes/stories/folder.js";
import { readyToStart } from "../../recipes/stories/ready.js";
import { tasksToStart } from "../../recipes/stories/start-list.js";
import { REVIEWER, type StoriesSpec } from "../../recipes/stories/stories.js";
import { storyFiles } from "../../recipes/stories/story-files.js";
import { iterationsLeft } from "../../recipes/stories/story-state.js";
import { isDone, type TaskList } from "../../recipes/stories/tasks.js";
import { readTextFile } from "../../recipes/text-file.js";
import { ralphHome } from "../../records/home.js";
import { runsOf } from "../../run/stories-runs.js";
import { DEFAULT_LIMITS, limitsFrom, STORIES_ITERATIONS } from "../../settings/limits.js";
import { loadSettings } from "../../settings/load.js";
import { baselineWarnings, type SafetyNetFlags } from "../flags.js";
import { type StartFlags, startRun } from "../start-run.js";
import { type ReviewFlags, reviewRules } from "./review-rules.js";

export interface RunFlags extends SafetyNetFlags, StartFlags, PlaceFlags, ReviewFlags {}

/** `ralph stories run`: one story at a time, each with its reviews, until all are approved. */
export async function run(flags: RunFlags): Promise<number> {
  const place = existingStories(flags);
  const loaded = await loadSettings(place.project, flags.config);
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations: STORIES_ITERATIONS });
  const { rules, reviewer } = reviewRules(flags, loaded.settings);
  const unverified = await putBackUnverified(place, runsOf(ralphHome(), place, "workspace").at(-1));
  const tasks = tasksToStart({ dir: place.dir, ...rules }, place.project);
  readTextFile("prompt template", storyFiles(place.dir).prompt, place.project);
  const { dirty, warnings } = await readyToStart(place, flags.worktree !== undefined);
  const left = tasks.userStories.filter((story) => !isDone(story, rules));
  if (left.length === 0) return nothingToDo(tasks, flags);
  const recipe: StoriesSpec = {
    kind: "stories",
    dir: place.dir,
    ...rules,
    hasReviewer: reviewer !== undefined,
    dirty,
  };
  return startRun(flags, {
    loaded,
    recipe,
    limits,
    origin: place.project,
    sandbox: "auto",
    stream: loaded.settings.streamAgentOutput,
    title: tasks.branchName.replace(/^ralph\//, ""),
    ...(reviewer !== undefined && { agents: { [REVIEWER]: { agent: reviewer, agentFlags: [] } } }),
    warnings: [
      ...unverifiedWarnings(unverified),
      ...warnings,
      ...prdWarnings(place),
      ...baselineWarnings(flags.baseline, tasks.verifyCommands?.length ?? 0),
    ],
    notes: [budget(tasks, rules, limits.maxIterations)],
  });
}

function unverifiedWarnings({ run: id, stories }: Unverified): string[] {
  if (stories.length === 0) return [];
  return [`run ${id} was cut off, so nobody verified the approval of ${stories.join(", ")}: it was put back`];
}

function prdWarnings({ project, dir }: StoriesPlace): string[] {
  const { prd } = storyFiles(dir);
  return existsSync(join(project, prd)) ? [] : [`${prd} does not exist: agents are asked to read it`];
}

function budget(tasks: TaskList, rules: Pick<StoriesSpec, "skipReview">, maxIterations: number): string {
  const open = tasks.userStories.filter((story) => !isDone(story, rules)).length;
  const needed = iterationsLeft(tasks, rules);
  const short = needed > maxIterations ? " (that may be too few)" : "";
  const stories = open === 1 ? "1 story" : `${open} stories`;
  return `${stories}, about ${needed} ${needed === 1 ? "iteration" : "iterations"}; --max-iterations is ${maxIterations}${short}`;
}

/** There is no run, and so no event: with `--json` nothing goes to stdout. */
function nothingToDo({ userStories }: TaskList, { json }: RunFlags): number {
  const out = json ? process.stderr : process.stdout;
  out.write(`Nothing to do: all stories are done (${userStories.length}).\n`);
  out.write("ralph stories archive puts them away.\n");
  return 0;
}
