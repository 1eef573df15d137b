import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { writeAtomic } from "../../records/files.js";
import { putFileBack } from "./guarded-files.js";
import type { Held, Judged } from "./judge.js";
import { putBack } from "./put-back.js";
import { checkTasks } from "./rules.js";
import type { Restoring, StoriesContext, StoriesSpec } from "./stories.js";
import { storyFiles } from "./story-files.js";
import type { Story, TaskList } from "./tasks.js";
import type { Theirs } from "./turn.js";

/** The list without what was found. One that is none is kept in the records. */
export function mended(
  spec: StoriesSpec,
  context: StoriesContext,
  { tasks, text, findings }: Judged,
  held: Held,
  iteration: number,
): TaskList {
  if (tasks !== undefined && findings.length === 0) return tasks;
  if (tasks === undefined && text !== undefined) writeAtomic(keptAs(context, iteration), text);
  const whole = putBack(tasks, held, findings);
  const check = checkTasks(JSON.stringify(whole), { ...spec, ...held, mode: undefined, before: undefined });
  return check.findings.length === 0 ? whole : held.before;
}

/** Where a list is kept that is none. */
export function keptAs({ folderFor }: StoriesContext, iteration: number): string {
  return join(folderFor(iteration), "tasks.broken.json");
}

/** Writes the list, unless it is there already: then it keeps the looks that it has. */
export function written(
  { dir }: StoriesSpec,
  context: Restoring,
  there: TaskList | undefined,
  wanted: TaskList,
): void {
  if (there !== undefined && JSON.stringify(there) === JSON.stringify(wanted)) return;
  putFileBack(context, storyFiles(dir).tasks, `${JSON.stringify(wanted, null, 2)}\n`);
}

/** Without reviews nothing but ralph's own look at it says that a story is done. */
export function withoutNewPasses(now: TaskList, before: TaskList): TaskList {
  const passed = new Set(before.userStories.filter(({ passes }) => passes).map(({ id }) => id));
  const userStories = now.userStories.map((story) =>
    story.passes && !passed.has(story.id) ? { ...story, passes: false } : story,
  );
  return { ...now, userStories };
}

/** The list of a person. Review fields and criteria that the person left as they were are those of `own`. */
export function merged({ now, left }: Theirs, own: TaskList): TaskList {
  const was = new Map(left?.userStories.map((story) => [story.id, story]));
  const should = new Map(own.userStories.map((story) => [story.id, story]));
  const theirs = new Set(now.userStories.map(({ id }) => id));
  const stories = now.userStories.map((story): Story => {
    const [old, wanted] = [was.get(story.id), should.get(story.id)];
    if (old === undefined || wanted === undefined) return story;
    const isKept = (part: (one: Story) => object): boolean => isDeepStrictEqual(part(story), part(old));
    return {
      ...story,
      ...(isKept(reviewOf) && reviewOf(wanted)),
      ...(isKept(criteriaOf) && criteriaOf(wanted)),
    };
  });
  const missing = own.userStories.filter(({ id }) => !was.has(id) && !theirs.has(id));
  return { ...now, userStories: [...stories, ...missing] };
}

function reviewOf({ passes, reviewStatus, reviewCount, reviewFeedback }: Story) {
  return { passes, reviewStatus, reviewCount, reviewFeedback };
}

function criteriaOf({ acceptanceCriteria }: Story) {
  return { acceptanceCriteria };
}
