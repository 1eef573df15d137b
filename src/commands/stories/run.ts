import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ReviewFlags, reviewRules } from "../../recipes/stories/flags.js";
import { existingStories, type FolderFlags, runsOf } from "../../recipes/stories/folder.js";
import { REVIEWER, storyFiles } from "../../recipes/stories/run.js";
import { putBackUnverified, readyToStart, tasksToStart } from "../../recipes/stories/start.js";
import { iterationsLeft, openStories } from "../../recipes/stories/state.js";
import { readTextFile } from "../../recipes/text-file.js";
import { ralphHome } from "../../records/home.js";
import { baselineWarnings } from "../../run/flags.js";
import { DEFAULT_LIMITS, limitsFrom, STORIES_ITERATIONS } from "../../settings/limits.js";
import { loadSettings } from "../../settings/load.js";
import { plural } from "../../views/figures.js";
import { type StartFlags, startRun } from "../start-run.js";

type RunFlags = StartFlags & FolderFlags & ReviewFlags;

/** `ralph stories run`: one story at a time, each with its reviews, until all are approved. */
export async function run(flags: RunFlags): Promise<number> {
  const folder = existingStories(flags);
  const { project, dir } = folder;
  const loaded = await loadSettings(project, flags.config);
  const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, maxIterations: STORIES_ITERATIONS });
  const { rules, reviewer } = reviewRules(flags, loaded.settings);
  const last = runsOf(ralphHome(), folder, "workspace").at(-1);
  const unverified = last === undefined ? [] : await putBackUnverified(folder, last);
  const tasks = tasksToStart({ dir, ...rules }, project);
  const { prompt, prd } = storyFiles(dir);
  readTextFile("prompt template", prompt, project);
  const { dirty, warnings } = await readyToStart(folder, flags.worktree !== undefined);
  const open = openStories(tasks, rules).length;
  if (open === 0) return nothingToDo(tasks.userStories.length, flags);
  if (unverified.length > 0)
    warnings.unshift(
      `run ${last?.id} was cut off, so nobody verified the approval of ${unverified.join(", ")}: it was put back`,
    );
  if (!existsSync(join(project, prd))) warnings.push(`${prd} does not exist: agents are asked to read it`);
  const needed = iterationsLeft(tasks, rules);
  const work = `${plural(open, "story", "stories")}, about ${plural(needed, "iteration")}`;
  const short = needed > limits.maxIterations ? " (that may be too few)" : "";
  return startRun(flags, loaded, {
    recipe: { kind: "stories", dir, ...rules, hasReviewer: reviewer !== undefined, dirty },
    limits,
    origin: project,
    sandbox: "auto",
    stream: loaded.settings.streamAgentOutput,
    title: tasks.branchName.replace(/^ralph\//, ""),
    ...(reviewer !== undefined && { agents: { [REVIEWER]: { agent: reviewer, agentFlags: [] } } }),
    warnings: [...warnings, ...baselineWarnings(flags.baseline, tasks.verifyCommands?.length ?? 0)],
    notes: [`${work}; --max-iterations is ${limits.maxIterations}${short}`],
  });
}

/** There is no run, and so no event: with `--json` nothing goes to stdout. */
function nothingToDo(stories: number, { json }: RunFlags): number {
  const out = json ? process.stderr : process.stdout;
  out.write(`Nothing to do: all stories are done (${stories}).\nralph stories archive puts them away.\n`);
  return 0;
}
