import {
  existingStories,
  type FolderFlags,
  isUntouched,
  runsOf,
  type StoriesFolder,
} from "../../recipes/stories/folder.js";
import { readTrusted, storyFiles } from "../../recipes/stories/run.js";
import { tasksToShow } from "../../recipes/stories/start.js";
import { boardOf, type ReviewRules } from "../../recipes/stories/state.js";
import type { TaskList } from "../../recipes/stories/tasks.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import type { RunFolder } from "../../records/runs.js";
import { addStories, type StoryReport } from "../../records/stories.js";
import { readSpec } from "../../run/spec.js";
import { loadSettings } from "../../settings/load.js";
import { boardLines } from "../../views/board.js";
import { harmlessJson } from "../../views/harmless.js";
import { formatterFor, type OutputFlags, printAll } from "../output.js";
import { reviewRules } from "./review-rules.js";

export interface StatusFlags extends FolderFlags, Pick<OutputFlags, "json" | "color" | "emoji"> {
  stats?: boolean;
}

/** `ralph stories status`: the stories, where they stand, and what comes next. */
export async function status(flags: StatusFlags): Promise<number> {
  const folder = existingStories(flags);
  const isFresh = isUntouched(folder, "tasks");
  const tasks = isFresh ? NO_STORIES : tasksToShow(folder.dir, folder.project);
  const home = ralphHome();
  const runs = runsOf(home, folder, "anywhere");
  const run = lockHolder(home, { workspace: folder.project })?.run ?? null;
  const spent = flags.stats ? await spentOn(runs, tasks) : undefined;
  const board = boardOf(tasks, await rulesOf(runs.at(-1), folder), run, spent);
  const text = flags.json
    ? harmlessJson(board, 2)
    : isFresh
      ? `No stories yet. Write ${storyFiles(folder.dir).tasks}, or let an agent ask you: ralph stories plan`
      : boardLines(board, formatterFor(flags), process.stdout.columns).join("\n");
  await printAll(`${text}\n`);
  return 0;
}

const NO_STORIES: TaskList = { project: "", branchName: "", description: "", userStories: [] };

/** The rules of the latest run, else those of the settings. */
async function rulesOf(folder: RunFolder | undefined, { project }: StoriesFolder): Promise<ReviewRules> {
  const recipe = folder === undefined ? undefined : readSpec(folder).recipe;
  if (recipe?.kind !== "stories") return reviewRules({}, (await loadSettings(project)).settings).rules;
  const { skipReview, reviewCap } = recipe;
  return { skipReview, reviewCap };
}

/** What runs of another feature spent on a story that had this id is not counted. */
async function spentOn(runs: RunFolder[], { userStories }: TaskList): Promise<Map<string, StoryReport>> {
  const all = runs.map(async (run) => {
    const titles = titlesIn(run);
    const own = new Set(userStories.filter(({ id, title }) => titles.get(id) === title).map(({ id }) => id));
    return (await run.report()).report.stories.filter(({ story }) => own.has(story));
  });
  return addStories(await Promise.all(all));
}

function titlesIn({ path }: RunFolder): Map<string, string> {
  try {
    const trusted = readTrusted(path);
    const stories = (trusted?.after ?? trusted?.before)?.userStories ?? [];
    return new Map(stories.map(({ id, title }) => [id, title]));
  } catch {
    return new Map();
  }
}
