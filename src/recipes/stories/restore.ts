import { join } from "node:path";
import { writeAtomic } from "../../state/files.js";
import type { Held, Judged } from "./judge.js";
import { putBack } from "./put-back.js";
import { checkTasks } from "./rules.js";
import type { Restoring, StoriesContext, StoriesSpec } from "./stories.js";
import { putFileBack, storyFiles } from "./story-files.js";
import type { TaskList } from "./tasks.js";

/** tasks.json without what was found. */
export function restored(
  spec: StoriesSpec,
  context: Restoring,
  { tasks, text, findings }: Judged,
  held: Held,
  iteration: number,
): TaskList {
  if (tasks !== undefined && findings.length === 0) return tasks;
  if (tasks === undefined && text !== undefined) writeAtomic(keptAs(context, iteration), text);
  const mended = putBack(tasks, held, findings);
  const check = checkTasks(JSON.stringify(mended), { ...spec, ...held, mode: undefined, before: undefined });
  const sound = check.findings.length === 0 ? mended : held.before;
  return written(spec, context, tasks, sound);
}

/** Where a list is kept that is none. */
export function keptAs({ folderFor }: StoriesContext, iteration: number): string {
  return join(folderFor(iteration), "tasks.broken.json");
}

/** A list that is there already keeps the looks that the agent gave it. */
function written(
  { dir }: StoriesSpec,
  context: Restoring,
  there: TaskList | undefined,
  wanted: TaskList,
): TaskList {
  if (there !== undefined && JSON.stringify(there) === JSON.stringify(wanted)) return there;
  putFileBack(context, storyFiles(dir).tasks, `${JSON.stringify(wanted, null, 2)}\n`);
  return wanted;
}

/** Without reviews nothing but ralph's own look at it says that a story is done. */
export function withoutNewPasses(
  spec: StoriesSpec,
  context: Restoring,
  now: TaskList,
  before: TaskList,
): TaskList {
  const passed = new Set(before.userStories.filter(({ passes }) => passes).map(({ id }) => id));
  const userStories = now.userStories.map((story) =>
    story.passes && !passed.has(story.id) ? { ...story, passes: false } : story,
  );
  return written(spec, context, now, { ...now, userStories });
}
