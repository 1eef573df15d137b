import { basename, join } from "node:path";
import { RalphError } from "../../errors.js";
import { writeFresh } from "../../records/files.js";
import { isTree } from "../../settings/merge.js";
import { textAt } from "../../workspace/content.js";
import { readAnyText } from "../prompt.js";
import { idOf, isUntouched, type StoriesFolder, storiesOfChecklist } from "./folder.js";
import { tasksIn } from "./start.js";
import { storyFiles } from "./state.js";
import { FRESH, mistakes, readTasks, type TaskList, treeIn } from "./tasks.js";

/** Adds a story to tasks.json, and returns its id. What the template has in its place is taken away. */
export function addStory(folder: StoriesFolder, title: string, criteria: string[]): string {
  const path = join(folder.project, storyFiles(folder.dir).tasks);
  const isFirst = isUntouched(folder, "tasks");
  const known = isFirst ? [] : tasksIn(folder.dir, folder.project).userStories;
  const numbers = known.map(({ id }) => Number(/\d+$/.exec(id)?.[0] ?? 0));
  const priority = Math.max(0, ...known.map((story) => story.priority)) + 1;
  const id = idOf(Math.max(0, ...numbers) + 1);
  const story = { id, title, acceptanceCriteria: criteria, priority, ...FRESH };
  writeFresh(
    path,
    `${JSON.stringify({ ...treeIn(textAt(path)), userStories: [...known, story] }, null, 2)}\n`,
  );
  return id;
}

/** A list without reviews, such as a prd.json or a Markdown checklist; `passed`: have to be reviewed here. */
export function importStories(
  file: string,
  text = readAnyText("stories", file, "."),
): { tasks: TaskList; passed: string[] } {
  const passed: string[] = [];
  // A story that nobody has reviewed is not done, whatever was said of it.
  const withReviewFields = (story: unknown, index: number): unknown => {
    if (!isTree(story)) return story;
    const { passes = false, notes } = story;
    const known = { description: "", priority: index + 1, notes: "", dependsOn: [], ...story };
    if (passes !== true) return { ...known, ...FRESH, passes };
    passed.push(String(story["id"]));
    const documented = { ...known, ...(notes === "" && { notes: "imported as passed" }) };
    return { ...documented, ...FRESH, reviewStatus: "needs_review" };
  };
  const isMarkdown = /\.(md|markdown)$/i.test(file);
  const { tasks, findings } = readTasks(isMarkdown ? checklistIn(text, file) : text, file, (value) => {
    if (!isTree(value)) return value;
    // Of a file that holds no stories, nothing else is worth a word.
    if (!Array.isArray(value["userStories"]))
      return { project: "", branchName: "", description: "", ...value };
    const { project = "", branchName = "ralph/feature-name", description = "", verifyCommands = [] } = value;
    const userStories = value["userStories"].map(withReviewFields);
    return { project, branchName, description, verifyCommands, userStories };
  });
  if (tasks !== undefined && findings.length === 0) return { tasks, passed };
  throw new RalphError(`cannot import: ${mistakes(file, findings)}`, { code: "import_invalid" });
}

function checklistIn(text: string, file: string): string {
  const list = storiesOfChecklist(text, basename(file).replace(/\.\w+$/, ""));
  if (list.userStories.length > 0) return JSON.stringify(list);
  throw new RalphError(`cannot import: ${file} holds no checklist`, {
    code: "import_invalid",
    hint: 'write each story as "- [ ] Title", and its criteria as items below it',
  });
}
