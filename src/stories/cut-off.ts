import { join } from "node:path";
import { killTree } from "../process/kill.js";
import { commitBack } from "../recipes/stories/commit-back.js";
import { readTasks } from "../recipes/stories/list-check.js";
import { isSameList } from "../recipes/stories/same-list.js";
import { putFileBack, readIfFile, storyFiles } from "../recipes/stories/story-files.js";
import type { Story, TaskList } from "../recipes/stories/tasks.js";
import { readTrusted } from "../recipes/stories/trusted.js";
import { ralphHome } from "../state/home.js";
import { lockHolder } from "../state/lock.js";
import { RUN_VARIABLE, type RunFolder } from "../state/runs.js";
import type { StoriesPlace } from "./folder.js";

const GRACE_MS = 2000;

export interface Unverified {
  run: string;
  /** Whose approval was put back. */
  stories: string[];
}

/**
 * The latest run of this folder may have been cut off while its agent was at work: approvals that are there since
 * then were verified by nobody and are put back.
 */
export async function putBackUnverified(
  place: StoriesPlace,
  folder: RunFolder | undefined,
): Promise<Unverified> {
  const before = folder === undefined ? undefined : openTurn(folder);
  const nothing = { run: folder?.id ?? "", stories: [] };
  if (folder === undefined || before === undefined) return nothing;
  if (lockHolder(ralphHome(), { workspace: place.project }) !== undefined) return nothing;
  // Its agent may have outlived it.
  await killTree({ marker: `${RUN_VARIABLE}=${folder.id}` }, GRACE_MS);
  const name = storyFiles(place.dir).tasks;
  const { tasks } = readTasks(readIfFile(join(place.project, name)), name);
  if (tasks === undefined || !isSameList(tasks.userStories, before)) return nothing;
  const stories = tasks.userStories.map((story) => believed(story, before));
  const changed = stories.filter((story, index) => story !== tasks.userStories[index]).map(({ id }) => id);
  if (changed.length === 0) return nothing;
  const text = JSON.stringify({ ...tasks, userStories: stories }, null, 2);
  const workspace = place.project;
  const putBack = new Set<string>();
  putFileBack({ workspace, putBack }, name, `${text}\n`);
  await commitBack({ workspace, inRepository: true, putBack });
  return { run: folder.id, stories: changed };
}

/** Where the stories stood when the last iteration began, if it was not verified. */
function openTurn({ path }: RunFolder): TaskList | undefined {
  try {
    const trusted = readTrusted(path);
    return trusted?.after === undefined ? trusted?.before : undefined;
  } catch {
    return undefined;
  }
}

function believed(story: Story, { userStories }: TaskList): Story {
  const old = userStories.find(({ id }) => id === story.id);
  const isDone = story.passes || story.reviewStatus === "approved";
  if (!isDone || (old?.passes === story.passes && old.reviewStatus === story.reviewStatus)) return story;
  const { passes, reviewStatus, reviewCount, reviewFeedback } = old ?? FRESH;
  return { ...story, passes, reviewStatus, reviewCount, reviewFeedback };
}

const FRESH = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "" };
