import { join } from "node:path";
import { endCutOff } from "../../records/cut-off.js";
import { ralphHome } from "../../records/home.js";
import { lockHolder } from "../../records/lock.js";
import { initialState } from "../../records/run-state.js";
import { type RunFolder, readRun } from "../../records/runs.js";
import { textAt } from "../../workspace/content.js";
import type { StoriesPlace } from "./folder.js";
import { commitBack, putFileBack } from "./guarded-files.js";
import { readTasks } from "./list-check.js";
import { isSameList } from "./same-list.js";
import { storyFiles } from "./story-files.js";
import type { Story, TaskList } from "./tasks.js";
import { readTrusted, type Trusted } from "./trusted.js";

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
  const turn = folder === undefined ? undefined : openTurn(folder);
  const nothing = { run: folder?.id ?? "", stories: [] };
  if (folder === undefined || turn === undefined) return nothing;
  const { before, rest } = turn;
  if (lockHolder(ralphHome(), { workspace: place.project }) !== undefined) return nothing;
  // Its agent may have outlived it.
  await endCutOff([readRun(folder)?.state ?? initialState(folder.id)]);
  const name = storyFiles(place.dir).tasks;
  const { tasks } = readTasks(textAt(join(place.project, name)), name);
  if (tasks === undefined || !isSameList(tasks.userStories, before)) return nothing;
  const left = readTasks(rest?.tasks).tasks;
  const stories = tasks.userStories.map((story) => believed(story, before, left));
  const changed = stories.filter((story, index) => story !== tasks.userStories[index]).map(({ id }) => id);
  if (changed.length === 0) return nothing;
  const text = JSON.stringify({ ...tasks, userStories: stories }, null, 2);
  const workspace = place.project;
  const putBack = new Set<string>();
  putFileBack({ workspace, putBack }, name, `${text}\n`);
  await commitBack({ workspace, inRepository: true, putBack });
  return { run: folder.id, stories: changed };
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

/** What a person has approved since then stands. */
function believed(story: Story, before: TaskList, left: TaskList | undefined): Story {
  const inList = (list: TaskList): Story | undefined => list.userStories.find(({ id }) => id === story.id);
  const old = inList(before);
  const isDone = story.passes || story.reviewStatus === "approved";
  const isTheirs = left !== undefined && !isSameReview(inList(left), story);
  if (!isDone || isTheirs || isSameReview(old, story)) return story;
  const { passes, reviewStatus, reviewCount, reviewFeedback } = old ?? FRESH;
  return { ...story, passes, reviewStatus, reviewCount, reviewFeedback };
}

function isSameReview(one: Story | undefined, { passes, reviewStatus }: Story): boolean {
  return one?.passes === passes && one.reviewStatus === reviewStatus;
}

const FRESH = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "" };
