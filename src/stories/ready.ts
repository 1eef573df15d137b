import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { RalphError } from "../errors.js";
import { storyFiles } from "../recipes/stories/story-files.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { ACTIVE_FILE, uncommittedFiles } from "../workspace/uncommitted.js";
import type { StoriesPlace } from "./folder.js";

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
  const { exitCode } = await git(project, ["check-ignore", "--quiet", ACTIVE_FILE]);
  const warnings = exitCode === 0 ? [] : [`${ACTIVE_FILE} is not ignored: add it to .gitignore`];
  if (inWorktree) {
    await refuseUncommitted(place);
    return { dirty: [], warnings };
  }
  const own = `${relative(root, join(project, dir))}/`;
  const dirty = (await uncommittedFiles(project)).filter(
    (file) => !own.startsWith(file) && !file.startsWith(own),
  );
  return { dirty, warnings: [...warnings, ...dirtyWarning(dirty)] };
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
