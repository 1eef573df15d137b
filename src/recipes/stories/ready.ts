import { readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { RalphError } from "../../errors.js";
import { git, repositoryRoot } from "../../workspace/git.js";
import { ACTIVE_FILE, uncommittedFiles } from "../../workspace/uncommitted.js";
import type { StoriesPlace } from "./folder.js";
import { storyFiles } from "./story-files.js";

export interface Ready {
  /** What is not committed, outside of the folder of the stories, from the top of the repository on. */
  dirty: string[];
  warnings: string[];
}

/** What has to be so before a run, and what the user should know of the repository. */
export async function readyToStart(place: StoriesPlace, inWorktree: boolean): Promise<Ready> {
  const { project, dir } = place;
  const root = repositoryRoot(project);
  if (root === undefined) {
    throw new RalphError(`not a git repository: ${project}`, {
      code: "not_a_repository",
      hint: "run git init: agents commit every story, and reviews read the commits",
    });
  }
  refuseLink(place);
  const { exitCode } = await git(project, ["check-ignore", "--quiet", ACTIVE_FILE]);
  const warnings = exitCode === 0 ? [] : [`${ACTIVE_FILE} is not ignored: add it to .gitignore`];
  if (inWorktree) {
    await refuseUncommitted(place);
    return { dirty: [], warnings };
  }
  const own = `${relative(root, join(project, dir))}/`;
  const files = await uncommittedFiles(project);
  if (files === undefined) throw gitFails(project);
  const dirty = files.filter((file) => !own.startsWith(file) && !file.startsWith(own));
  return { dirty, warnings: [...warnings, ...dirtyWarning(dirty)] };
}

function gitFails(project: string): RalphError {
  return new RalphError(`git status fails in ${project}`, {
    code: "git_failed",
    hint: "run it yourself to see why: agents commit every story",
  });
}

/** An agent could turn it anywhere, and what ralph puts back would land there. */
function refuseLink({ project, dir }: StoriesPlace): void {
  if (realpathSync(join(project, dir)) === join(realpathSync(project), dir)) return;
  throw new RalphError(`${dir} is a link to another folder`, {
    code: "stories_linked",
    hint: "put the folder itself there",
  });
}

const MAX_NAMED = 3;

function dirtyWarning(dirty: string[]): string[] {
  if (dirty.length === 0) return [];
  const more = dirty.length - MAX_NAMED;
  const named = dirty.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [
    `not committed yet: ${named}. ralph does not ask the agent to commit them, but git add -A of an agent does: commit or stash them first if that matters`,
  ];
}

/** What is not committed is not in a new worktree. */
async function refuseUncommitted({ project, dir }: StoriesPlace): Promise<void> {
  const { tasks } = storyFiles(dir);
  const { ok, stdout } = await git(project, ["show", `HEAD:./${tasks}`]);
  if (ok && stdout === readFileSync(join(project, tasks), "utf8")) return;
  throw new RalphError(`${tasks} is not committed as it is, so a worktree would not have it`, {
    code: "tasks_uncommitted",
    hint: `git add ${dir} && git commit -m "Plan"`,
  });
}
