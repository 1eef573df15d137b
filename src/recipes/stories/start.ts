import { readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { RalphError } from "../../errors.js";
import { endCutOff } from "../../records/cut-off.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { initialState } from "../../records/run-state.js";
import type { RunFolder } from "../../records/runs.js";
import { textAt } from "../../workspace/content.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import type { StoriesFolder } from "./folder.js";
import { isSameList, withoutApprovals } from "./judge.js";
import { checkTasks, some } from "./rules.js";
import { commitBack, putFileBack, readTrusted, storyFiles, type Trusted } from "./run.js";
import { type ReviewRules, stateOf } from "./state.js";
import { mistakes, type Reading, readTasks, type TaskList } from "./tasks.js";

/** The list that a run begins with. What is wrong with it ends the run before it began. */
export function tasksToStart(spec: ReviewRules & { dir: string }, workspace: string): TaskList {
  const name = storyFiles(spec.dir).tasks;
  const reading = checkTasks(textAt(join(workspace, name)), { ...spec, name });
  const { tasks, findings } = reading;
  if (tasks !== undefined && findings.length === 0) return tasks;
  throw unusable(name, reading, spec);
}

/** The same for commands that only show it: what a review would find wrong does not matter. */
export function tasksToShow(dir: string, workspace: string): TaskList {
  const name = storyFiles(dir).tasks;
  const reading = readTasks(textAt(join(workspace, name)), name);
  if (reading.tasks === undefined) throw unusable(name, reading, { skipReview: true });
  return reading.tasks;
}

function unusable(
  name: string,
  { tasks, findings }: Reading,
  { skipReview }: Pick<ReviewRules, "skipReview">,
) {
  const isPassed = (id: string | undefined): boolean | undefined =>
    tasks?.userStories.some((story) => story.id === id && stateOf(story, { skipReview: true }) === "passed");
  // What an earlier run without reviews leaves is no mistake in the list.
  const isLeft = !skipReview && findings.every(({ story }) => isPassed(story));
  const hint = isLeft
    ? "stories that were passed without a review: go on with --skip-review, or set passes to false to have them reviewed"
    : "write it by hand or with ralph stories plan; ralph stories verify checks it";
  return new RalphError(mistakes(name, findings), { code: "tasks_invalid", hint });
}

export interface Ready {
  /** What is not committed, outside of the folder of the stories, from the top of the repository on. */
  dirty: string[];
  warnings: string[];
}

const MAX_NAMED = 3;

/** What has to be so before a run, and what the user should know of the repository. */
export async function readyToStart(folder: StoriesFolder, inWorktree: boolean): Promise<Ready> {
  const { project, dir } = folder;
  const root = repositoryRoot(project);
  if (root === undefined)
    throw new RalphError(`not a git repository: ${project}`, {
      code: "not_a_repository",
      hint: "run git init: agents commit every story, and reviews read the commits",
    });
  // An agent could turn a link anywhere, and what ralph puts back would land there.
  if (realpathSync(join(project, dir)) !== join(realpathSync(project), dir))
    throw new RalphError(`${dir} is a link to another folder`, {
      code: "stories_linked",
      hint: "put the folder itself there",
    });
  const { exitCode } = await git(project, ["check-ignore", "--quiet", ACTIVE_FILE]);
  const warnings = exitCode === 0 ? [] : [`${ACTIVE_FILE} is not ignored: add it to .gitignore`];
  if (inWorktree) {
    await refuseUncommitted(folder);
    return { dirty: [], warnings };
  }
  const own = `${relative(root, join(project, dir))}/`;
  const files = await uncommittedFiles(project);
  if (files === undefined)
    throw new RalphError(`git status fails in ${project}`, {
      code: "git_failed",
      hint: "run it yourself to see why: agents commit every story",
    });
  const dirty = files.filter((file) => !own.startsWith(file) && !file.startsWith(own));
  if (dirty.length > 0)
    warnings.push(
      `not committed yet: ${some(dirty, MAX_NAMED)}. ralph does not ask the agent to commit them, but git add -A of an agent does: commit or stash them first if that matters`,
    );
  return { dirty, warnings };
}

/** What is not committed is not in a new worktree. */
async function refuseUncommitted({ project, dir }: StoriesFolder): Promise<void> {
  const { tasks } = storyFiles(dir);
  const { ok, stdout } = await git(project, ["show", `HEAD:./${tasks}`]);
  if (ok && stdout === readFileSync(join(project, tasks), "utf8")) return;
  throw new RalphError(`${tasks} is not committed as it is, so a worktree would not have it`, {
    code: "tasks_uncommitted",
    hint: `git add ${dir} && git commit -m "Plan"`,
  });
}

/**
 * The latest run of this folder may have been cut off while its agent was at work: approvals that are there since
 * then were verified by nobody and are put back. Returns the ids of their stories.
 */
export async function putBackUnverified(
  { project, dir }: StoriesFolder,
  folder: RunFolder,
): Promise<string[]> {
  const turn = openTurn(folder);
  if (turn === undefined || lockHolder(ralphHome(), { workspace: project }) !== undefined) return [];
  // Its agent may have outlived it.
  await endCutOff([folder.state() ?? initialState(folder.id)]);
  const name = storyFiles(dir).tasks;
  const { tasks } = readTasks(textAt(join(project, name)), name);
  if (tasks === undefined || !isSameList(tasks.userStories, turn.before)) return [];
  const believed = withoutApprovals(tasks, turn.before, readTasks(turn.rest?.tasks).tasks);
  const changed = tasks.userStories.filter((story, index) => story !== believed.userStories[index]);
  if (changed.length === 0) return [];
  const written = { workspace: project, inRepository: true, putBack: new Set<string>() };
  putFileBack(written, name, `${JSON.stringify(believed, null, 2)}\n`);
  await commitBack(written);
  return changed.map(({ id }) => id);
}

/** Where the stories stood when the last iteration began, and when its agent was ended, if it was not verified. */
function openTurn({ path }: RunFolder): Trusted | undefined {
  try {
    const trusted = readTrusted(path);
    return trusted?.after === undefined ? trusted : undefined;
  } catch {
    return undefined;
  }
}
