import { archiveStories } from "../../recipes/stories/archive.js";
import {
  existingStories,
  type FolderFlags,
  refuseAtWork,
  runsOf,
  type StoriesFolder,
} from "../../recipes/stories/folder.js";
import { ralphHome } from "../../records/home.js";
import { programsBefore } from "../../run/git.js";
import { saysSomething } from "../../settings/limits.js";
import { harmlessLine } from "../../views/harmless.js";
import { type FindNewPrograms, newPrograms } from "../../workspace/git-programs.js";

export interface ArchiveFlags extends FolderFlags {
  label?: string;
}

/** `ralph stories archive`: puts a loop away and starts anew. */
export async function archive({ label, ...flags }: ArchiveFlags): Promise<number> {
  const stories = existingStories(flags);
  if (label !== undefined) saysSomething("--label", label);
  refuseAtWork(stories);
  const { folder, tasks, notCommitted, note } = await archiveStories(stories, label, sinceLastRun(stories));
  const done = tasks.userStories.filter(({ passes }) => passes).length;
  process.stdout.write(`Archived ${done} of ${tasks.userStories.length} completed stories in ${folder}\n`);
  process.stdout.write(`${stories.dir}/ is ready for the next loop: ralph stories plan\n`);
  if (note !== undefined) process.stderr.write(`ralph: committed${note}\n`);
  if (notCommitted === undefined) return 0;
  process.stderr.write(`ralph: warning: it is not committed: ${harmlessLine(notCommitted)}\n`);
  return 1;
}

/** Agents of the last run may have left hooks behind. */
function sinceLastRun(stories: StoriesFolder): FindNewPrograms | undefined {
  const last = runsOf(ralphHome(), stories, "anywhere").at(-1);
  const before = last === undefined ? undefined : programsBefore(last);
  return before && (() => newPrograms(stories.project, before));
}
