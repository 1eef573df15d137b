import { join } from "node:path";
import { endCutOff } from "../../records/cut-off.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { initialState } from "../../records/run-state.js";
import type { RunFolder } from "../../records/runs.js";
import { textAt } from "../../workspace/content.js";
import type { StoriesFolder } from "./folder.js";
import { commitBack, putFileBack } from "./guarded-files.js";
import { withoutApprovals } from "./mend.js";
import { storyFiles } from "./story-files.js";
import { readTasks } from "./tasks.js";
import { readTrusted, type Trusted } from "./trusted.js";
import { isSameList } from "./turn.js";

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
