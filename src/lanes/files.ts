import { FRESH, readTasks, treeIn } from "../recipes/stories/tasks.js";
import { isTree } from "../settings/merge.js";

/** The list of the target with one story as its lane left it: nothing else of the lane's list counts. */
export function mergedTasks(target: string, tip: string, story: string): string {
  const tasks = treeIn(target);
  const own = storiesIn(treeIn(tip)).find((one) => one["id"] === story);
  if (own === undefined) return target;
  const userStories = storiesIn(tasks).map((one) => (one["id"] === story ? own : one));
  const text = `${JSON.stringify({ ...tasks, userStories }, null, 2)}\n`;
  return readTasks(text).tasks === undefined ? target : text;
}

function storiesIn({ userStories }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(userStories) ? userStories.filter(isTree) : [];
}

/** The progress of the target, and below it the lines that the lane has added. */
export function mergedProgress(base: string, target: string, tip: string): string {
  const added = tip.startsWith(base) ? tip.slice(base.length) : linesOnlyIn(tip, base);
  if (added.trim() === "") return target;
  const own = base.endsWith("\n") ? added : added.replace(/^\n/, "");
  const between = target === "" || target.endsWith("\n") ? "" : "\n";
  return `${target}${between}${own.endsWith("\n") ? own : `${own}\n`}`;
}

function linesOnlyIn(text: string, other: string): string {
  const known = new Map<string, number>();
  for (const line of other.split("\n")) known.set(line, (known.get(line) ?? 0) + 1);
  const isNew = (line: string): boolean => {
    const count = known.get(line) ?? 0;
    known.set(line, count - 1);
    return count <= 0;
  };
  return text.split("\n").filter(isNew).join("\n");
}

/** The list with a story that has to be worked on and reviewed anew. */
export function reopened(text: string, story: string): string {
  return changed(text, story, FRESH);
}

/** The list with a story whose review is the one that it has in another list. */
export function reviewedAsIn(reviewed: string, text: string, story: string): string {
  const own = storiesIn(treeIn(reviewed)).find((one) => one["id"] === story) ?? {};
  const fields = Object.keys(FRESH).map((field) => [field, own[field]]);
  return changed(text, story, Object.fromEntries(fields));
}

function changed(text: string, story: string, fields: Record<string, unknown>): string {
  const tasks = treeIn(text);
  const userStories = storiesIn(tasks).map((one) => (one["id"] === story ? { ...one, ...fields } : one));
  return `${JSON.stringify({ ...tasks, userStories }, null, 2)}\n`;
}
