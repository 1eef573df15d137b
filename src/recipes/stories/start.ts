import { join, relative } from "node:path";
import { orElse, RalphError } from "../../errors.js";
import { ralphHome } from "../../records/home.js";
import { endCutOff } from "../../records/journal.js";
import { lockHolder } from "../../records/lock.js";
import { addStories, type StoryReport } from "../../records/report.js";
import { initialState } from "../../records/run-state.js";
import { type RunFolder, runsIn } from "../../records/runs.js";
import { putTextBack } from "../../verify/protected/find.js";
import { commitFiles } from "../../verify/protected/in-git.js";
import { textAt } from "../../workspace/content.js";
import { git, repositoryRoot, someOf } from "../../workspace/git.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import { refuseUncommitted } from "../prompt.js";
import type { StoriesFolder } from "./folder.js";
import { checkTasks } from "./rules.js";
import { readTurn } from "./run.js";
import { type ReviewRules, storyFiles } from "./state.js";
import { filledIn, isSameList, mended, mistakes, readTasks, type Story, type TaskList } from "./tasks.js";

/** The list of a workspace, as a person left it. With `rules` it has to be sound as well, as at the start of a run. */
export function tasksIn(dir: string, workspace: string, rules?: ReviewRules): TaskList {
  const name = storyFiles(dir).tasks;
  const text = textAt(join(workspace, name));
  const { tasks, findings } = rules
    ? checkTasks(text, { ...rules, name, isPersons: true })
    : readTasks(text, name, filledIn);
  if (tasks !== undefined && (rules === undefined || findings.length === 0)) return tasks;
  // What an earlier run without reviews leaves is no mistake in the list.
  const isLeft = findings.every(({ check, field }) => check === 2 && field === "passes");
  const hint = isLeft
    ? "stories that were passed without a review: continue with --skip-review, or set passes to false to have them reviewed"
    : "write it by hand or with ralph stories plan; ralph stories verify checks it";
  throw new RalphError(mistakes(name, findings), { code: "tasks_invalid", hint });
}

/** Checks the repository before a run. `dirty`: uncommitted files outside of the stories' folder. */
export async function readyToStart(
  { project, dir }: StoriesFolder,
  inWorktree: boolean,
): Promise<{ dirty: string[]; warnings: string[] }> {
  const root = repositoryRoot(project);
  if (root === undefined)
    throw new RalphError(`not a git repository: ${project}`, {
      code: "not_a_repository",
      hint: "run git init: agents commit every story, and reviews read the commits",
    });
  const { exitCode } = await git(project, ["check-ignore", "--quiet", ACTIVE_FILE]);
  const warnings = exitCode === 0 ? [] : [`${ACTIVE_FILE} is not ignored: add it to .gitignore`];
  if (inWorktree) {
    const hint = `git add ${dir} && git commit -m "Plan"`;
    await refuseUncommitted(project, storyFiles(dir).tasks, { code: "tasks_uncommitted", hint });
    return { dirty: [], warnings };
  }
  const own = `${relative(root, join(project, dir))}/`;
  // Where git cannot tell, the first iteration hears it.
  const files = (await uncommittedFiles(project)) ?? [];
  const dirty = files.filter((file) => !own.startsWith(file) && !file.startsWith(own));
  if (dirty.length > 0)
    warnings.push(
      `not committed yet: ${someOf(dirty)}; an agent that runs git add -A commits it, too (commit or stash it first if that matters)`,
    );
  return { dirty, warnings };
}

/** Puts approvals back that a crash left unverified. Returns the ids of their stories. */
export async function putBackUnverified(
  { project, dir }: StoriesFolder,
  folder: RunFolder,
): Promise<string[]> {
  const turn = orElse(() => readTurn(folder.path), undefined);
  if (turn === undefined || turn.rest !== undefined) return [];
  if (lockHolder(ralphHome(), { workspace: project }) !== undefined) return [];
  // Its agent may have outlived it.
  await endCutOff([folder.state() ?? initialState(folder.id)]);
  const name = storyFiles(dir).tasks;
  const { tasks } = readTasks(textAt(join(project, name)));
  if (tasks === undefined || !isSameList(tasks.userStories, turn.before)) return [];
  const was = new Map(turn.before.userStories.map((story) => [story.id, story]));
  const isNew = ({ id, passes, reviewStatus: status }: Story): boolean =>
    (passes && !was.get(id)?.passes) || (status === "approved" && was.get(id)?.reviewStatus !== status);
  const changed = tasks.userStories.filter(isNew).map(({ id }) => id);
  if (changed.length === 0) return [];
  const findings = changed.map((story) => ({ story }));
  const believed = mended(tasks, turn.before, [], findings);
  putTextBack(project, name, `${JSON.stringify(believed, null, 2)}\n`);
  await commitFiles(project, [name]);
  return changed;
}

/** Every run over these stories, the oldest first; `workspace`: only those in the folder itself. */
export function runsOf(
  home: string,
  { project, dir }: StoriesFolder,
  where: "workspace" | "anywhere",
): RunFolder[] {
  const isOver = (folder: RunFolder): boolean => {
    const spec = orElse(() => folder.spec(), undefined);
    if (spec?.recipe.kind !== "stories" || !("dir" in spec.recipe) || spec.recipe.dir !== dir) return false;
    return spec.workspace === project || (where === "anywhere" && spec.origin === project);
  };
  return runsIn(home).list().filter(isOver);
}

/** What runs of another feature spent on a story that had this id is not counted. */
export async function spentOn(
  runs: RunFolder[],
  { userStories }: TaskList,
): Promise<Map<string, StoryReport>> {
  const all = runs.map(async (run) => {
    const turn = orElse(() => readTurn(run.path), undefined);
    const had = (turn?.after ?? turn?.before)?.userStories ?? [];
    const own = userStories.filter((story) => isSameList([story], { userStories: had })).map(({ id }) => id);
    return (await run.report()).report.stories.filter(({ story }) => own.includes(story));
  });
  return addStories(await Promise.all(all));
}
