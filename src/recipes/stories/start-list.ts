import { join } from "node:path";
import { RalphError } from "../../errors.js";
import { textAt } from "../../workspace/content.js";
import type { Finding } from "./finding.js";
import { readTasks } from "./list-check.js";
import { checkTasks } from "./rules.js";
import type { StoriesSpec } from "./stories.js";
import { storyFiles } from "./story-files.js";
import { stateOf } from "./story-state.js";
import type { TaskList } from "./tasks.js";

const HINT = "write it by hand or with ralph stories plan; ralph stories verify checks it";

/** The list that a run begins with. What is wrong with it ends the run before it began. */
export function tasksToStart(
  spec: Pick<StoriesSpec, "dir" | "skipReview" | "reviewCap">,
  workspace: string,
): TaskList {
  const name = storyFiles(spec.dir).tasks;
  const { tasks, findings } = checkTasks(textAt(join(workspace, name)), { ...spec, name });
  if (tasks !== undefined && findings.length === 0) return tasks;
  throw unusable(name, findings, hintFor(tasks, findings, spec));
}

/** The same for whoever only looks: what a review would find wrong does not matter. */
export function tasksToShow(dir: string, workspace: string): TaskList {
  const name = storyFiles(dir).tasks;
  const { tasks, findings } = readTasks(textAt(join(workspace, name)), name);
  if (tasks === undefined) throw unusable(name, findings);
  return tasks;
}

/** What an earlier run without reviews leaves is no mistake of whoever wrote the list. */
function hintFor(
  tasks: TaskList | undefined,
  findings: Finding[],
  spec: Pick<StoriesSpec, "skipReview" | "reviewCap">,
): string | undefined {
  if (spec.skipReview || tasks === undefined) return undefined;
  const passed = new Set(
    tasks.userStories
      .filter((story) => stateOf(story, { skipReview: true }) === "passed")
      .map(({ id }) => id),
  );
  if (!findings.every(({ story }) => passed.has(story ?? ""))) return undefined;
  return "stories that were passed without a review: go on with --skip-review, or set passes to false to have them reviewed";
}

function unusable(name: string, findings: Finding[], hint = HINT): RalphError {
  const all = findings.map(({ message }) => message.replace(/\.$/, "")).join("; ");
  return new RalphError(all.startsWith(name) ? all : `${name}: ${all}`, {
    code: "tasks_invalid",
    hint,
  });
}
