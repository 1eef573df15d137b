import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  existingStories,
  type FolderFlags,
  runsOf,
  type StoriesFolder,
} from "../../recipes/stories/folder.js";
import { REVIEWER, type StoriesSpec, storyFiles } from "../../recipes/stories/run.js";
import { putBackUnverified, readyToStart, tasksToStart } from "../../recipes/stories/start.js";
import { iterationsLeft, openStories } from "../../recipes/stories/state.js";
import type { TaskList } from "../../recipes/stories/tasks.js";
import { readTextFile } from "../../recipes/text-file.js";
import { ralphHome } from "../../records/home.js";
import { baselineWarnings } from "../../run/flags.js";
import { DEFAULT_LIMITS, limitsFrom, STORIES_ITERATIONS } from "../../settings/limits.js";
import { loadSettings } from "../../settings/load.js";
import { type StartFlags, startRun } from "../start-run.js";
import { type ReviewFlags, reviewRules } from "./review-rules.js";

export interface RunFlags extends StartFlags, FolderFlags, ReviewFlags {}

/** `ralph stories run`: one story at a time, each with its reviews, until all are approved. */
export async function run(flags: RunFlags): Promise<number> {
  const folder = existingStories(flags);
  const loaded = await loadSettings(folder.project, flags.config);
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations: STORIES_ITERATIONS });
  const { rules, reviewer } = reviewRules(flags, loaded.settings);
  const last = runsOf(ralphHome(), folder, "workspace").at(-1);
  const unverified = last === undefined ? [] : await putBackUnverified(folder, last);
  const tasks = tasksToStart({ dir: folder.dir, ...rules }, folder.project);
  readTextFile("prompt template", storyFiles(folder.dir).prompt, folder.project);
  const { dirty, warnings } = await readyToStart(folder, flags.worktree !== undefined);
  if (openStories(tasks, rules).length === 0) return nothingToDo(tasks, flags);
  const recipe: StoriesSpec = {
    kind: "stories",
    dir: folder.dir,
    ...rules,
    hasReviewer: reviewer !== undefined,
    dirty,
  };
  return startRun(flags, loaded, {
    recipe,
    limits,
    origin: folder.project,
    sandbox: "auto",
    stream: loaded.settings.streamAgentOutput,
    title: tasks.branchName.replace(/^ralph\//, ""),
    ...(reviewer !== undefined && { agents: { [REVIEWER]: { agent: reviewer, agentFlags: [] } } }),
    warnings: [
      ...(unverified.length === 0
        ? []
        : [
            `run ${last?.id} was cut off, so nobody verified the approval of ${unverified.join(", ")}: it was put back`,
          ]),
      ...warnings,
      ...prdWarnings(folder),
      ...baselineWarnings(flags.baseline, tasks.verifyCommands?.length ?? 0),
    ],
    notes: [budget(tasks, rules, limits.maxIterations)],
  });
}

function prdWarnings({ project, dir }: StoriesFolder): string[] {
  const { prd } = storyFiles(dir);
  return existsSync(join(project, prd)) ? [] : [`${prd} does not exist: agents are asked to read it`];
}

function budget(tasks: TaskList, rules: Pick<StoriesSpec, "skipReview">, maxIterations: number): string {
  const open = openStories(tasks, rules).length;
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
