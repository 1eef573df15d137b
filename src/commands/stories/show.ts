import { type ReviewFlags, reviewRules } from "../../recipes/stories/flags.js";
import {
  existingStories,
  type FolderFlags,
  isUntouched,
  runsOf,
  spentOn,
} from "../../recipes/stories/folder.js";
import { stopFindings } from "../../recipes/stories/judge.js";
import { readTrusted, type Stories, type StoriesSpec, storyFiles } from "../../recipes/stories/run.js";
import { tasksToShow } from "../../recipes/stories/start.js";
import { boardOf, type ReviewRules } from "../../recipes/stories/state.js";
import type { TaskList } from "../../recipes/stories/tasks.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { type RunFolder, runFolder } from "../../records/runs.js";
import { readSpec } from "../../run/spec.js";
import { loadSettings } from "../../settings/load.js";
import { boardLines } from "../../views/board.js";
import { plural } from "../../views/figures.js";
import { harmless } from "../../views/harmless.js";
import { formatterFor, type LookFlags, printAll, printAs } from "../output.js";

/** `ralph stories status`: the stories, where they stand, and what comes next. */
export async function status(flags: FolderFlags & LookFlags & { stats?: boolean }): Promise<number> {
  const folder = existingStories(flags);
  const isFresh = isUntouched(folder, "tasks");
  const tasks = isFresh ? NO_STORIES : tasksToShow(folder.dir, folder.project);
  const home = ralphHome();
  const runs = runsOf(home, folder, "anywhere");
  const run = lockHolder(home, { workspace: folder.project })?.run ?? null;
  const spent = flags.stats ? await spentOn(runs, tasks) : undefined;
  const rules = storiesSpecOf(runs.at(-1)) ?? (await rulesFor(folder.project, {}));
  const board = boardOf(tasks, rules, run, spent);
  await printAs(flags, board, () =>
    isFresh
      ? [`No stories yet. Write ${storyFiles(folder.dir).tasks}, or let an agent ask you: ralph stories plan`]
      : boardLines(board, formatterFor(flags), process.stdout.columns),
  );
  return 0;
}

const NO_STORIES: TaskList = { project: "", branchName: "", description: "", userStories: [] };

function storiesSpecOf(run: RunFolder | undefined): StoriesSpec | undefined {
  const recipe = run && readSpec(run).recipe;
  return recipe?.kind === "stories" ? recipe : undefined;
}

async function rulesFor(project: string, flags: ReviewFlags): Promise<ReviewRules> {
  return reviewRules(flags, (await loadSettings(project)).settings).rules;
}

type VerifyFlags = FolderFlags & Omit<LookFlags, "json"> & Omit<ReviewFlags, "reviewerAgent">;

/** `ralph stories verify`: the checks that an agent has to pass before it may stop, by hand. */
export async function verify(flags: VerifyFlags): Promise<number> {
  const { project: workspace, dir } = existingStories(flags);
  const home = ralphHome();
  const holder = lockHolder(home, { workspace });
  const run = holder && runFolder(home, holder.run);
  const known = run && readTrusted(run.path);
  // While a run is at work, its rules hold, as they do for its agents.
  const spec = storiesSpecOf(run) ?? {
    ...({ kind: "stories", dir, hasReviewer: false, dirty: [] } as const),
    ...(await rulesFor(workspace, flags)),
  };
  const stories: Stories = { spec, files: storyFiles(dir), workspace, inRepository: true };
  // In a pause the stories are the user's.
  const turn = known?.after === undefined ? known : undefined;
  const { tasks, findings } = await stopFindings(stories, turn, []);
  const { mark } = formatterFor(flags);
  if (findings.length === 0) {
    const count = plural(tasks?.userStories.length ?? 0, "story", "stories");
    await printAll(`${mark.pass} ${stories.files.tasks}: ${count}, all sound and committed\n`);
    return 0;
  }
  const lines = findings.map(({ check, message }) => {
    // What an agent has to do before it stops is not for people.
    const text = check === 3 ? (message.split("\n")[0] ?? "") : message;
    return `${harmless(`${mark.fail} ${text}`).replaceAll("\n", "\n  ")}\n`;
  });
  await printAll(lines.join(""));
  return 1;
}
