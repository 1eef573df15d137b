import { readReport } from "../../host/read-report.js";
import { readSpec } from "../../host/spec.js";
import { tasksToShow } from "../../recipes/stories/start-list.js";
import { DEFAULT_REVIEW_CAP, type ReviewRules } from "../../recipes/stories/tasks.js";
import { ralphHome } from "../../state/home.js";
import { lockHolder } from "../../state/lock.js";
import { listRunFolders, type RunFolder } from "../../state/runs.js";
import { boardOf } from "../../stories/board.js";
import { existingStories, type PlaceFlags, type StoriesPlace } from "../../stories/folder.js";
import { boardLines } from "../../views/board.js";
import { addStories, type StoryReport } from "../../views/report/stories.js";
import { formatterFor, type OutputFlags, printAll } from "../output.js";

export interface StatusFlags extends PlaceFlags, Pick<OutputFlags, "json" | "color" | "emoji"> {
  stats?: boolean;
}

/** `ralph stories status`: the stories, where they stand, and what comes next. */
export async function status(flags: StatusFlags): Promise<number> {
  const place = existingStories(flags);
  const tasks = tasksToShow(place.dir, place.project);
  const home = ralphHome();
  const runs = runsOf(home, place);
  const run = lockHolder(home, place.project)?.run ?? null;
  const board = boardOf(tasks, {
    ...rulesOf(runs.at(-1)),
    run,
    spent: flags.stats ? spentOn(home, runs) : undefined,
  });
  const text = flags.json
    ? JSON.stringify(board, null, 2)
    : boardLines(board, formatterFor(flags), process.stdout.columns).join("\n");
  await printAll(`${text}\n`);
  return 0;
}

/** The rules of the latest run. */
function rulesOf(folder: RunFolder | undefined): ReviewRules {
  const recipe = folder === undefined ? undefined : readSpec(folder).recipe;
  if (recipe?.kind !== "stories") return { skipReview: false, reviewCap: DEFAULT_REVIEW_CAP };
  const { skipReview, reviewCap } = recipe;
  return { skipReview, reviewCap };
}

/** Every run over these stories, the oldest first. */
function runsOf(home: string, { project, dir }: StoriesPlace): RunFolder[] {
  return listRunFolders(home).filter((folder) => {
    try {
      const { recipe, workspace, origin } = readSpec(folder);
      return recipe.kind === "stories" && recipe.dir === dir && [workspace, origin].includes(project);
    } catch {
      return false;
    }
  });
}

function spentOn(home: string, runs: RunFolder[]): Map<string, StoryReport> {
  return addStories(runs.map((folder) => readReport(home, folder).report.stories));
}
