import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemErrorCode } from "../errors.js";
import type { Rules } from "../recipes/stories/rules.js";
import type { Before, Snapshot } from "../recipes/stories/snapshot.js";
import { STORIES_FOLDER, storyFiles } from "../recipes/stories/story-files.js";
import { DEFAULT_REVIEW_CAP, type Mode, REVIEW_STATUSES } from "../recipes/stories/tasks.js";
import { textAt } from "../workspace/content.js";
import { ACTIVE_FILE } from "../workspace/uncommitted.js";
import { isObject } from "./hook.cjs";

/** The folder with `.ralph-active`: this one, or one above it in the same repository. */
export function findActive(folder: string): string | undefined {
  // A folder of that name only keeps its place, in a sandbox.
  if (statSync(join(folder, ACTIVE_FILE), { throwIfNoEntry: false })?.isFile())
    return isLeftBehind(folder) ? undefined : folder;
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, ".git")) ? undefined : findActive(above);
}

/** The loop that wrote it is gone: it was killed, or the machine was. */
function isLeftBehind(folder: string): boolean {
  const { pid } = objectIn(textAt(join(folder, ACTIVE_FILE)) ?? "");
  if (!Number.isSafeInteger(pid) || Number(pid) <= 0 || Number(pid) > lastPid()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return systemErrorCode(error) === "ESRCH";
  }
}

/** A number that no process of this machine has says nothing of one. */
function lastPid(): number {
  try {
    return Number(readFileSync("/proc/sys/kernel/pid_max", "utf8"));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export interface Active {
  /** The text of tasks.json; undefined where there is none. */
  tasks: string | undefined;
  rules: Rules;
}

/** What is in the folder, as it can be read: a value that makes no sense is as good as none. */
export function readActive(workspace: string): Active {
  const active = objectIn(textAt(join(workspace, ACTIVE_FILE)) ?? "");
  const { skipReview, reviewCap, iterationMode, preIterationSnapshot } = active;
  const mode = MODES.find((each) => each === iterationMode);
  const before = snapshotIn(preIterationSnapshot);
  return {
    tasks: textAt(join(workspace, storyFiles(STORIES_FOLDER).tasks)),
    rules: {
      skipReview: skipReview === true,
      reviewCap: Number.isInteger(reviewCap) ? Number(reviewCap) : DEFAULT_REVIEW_CAP,
      ...(mode !== undefined && before !== undefined && { mode, before }),
    },
  };
}

const MODES: Mode[] = ["implement", "review", "review-fix"];

/** All of it makes sense, or none of it is used: a story that is missing there would look like a new one. */
function snapshotIn(value: unknown): Snapshot | undefined {
  if (!isObject(value)) return undefined;
  const stories = Object.entries(value).map(([id, before]) => [id, beforeIn(before)] as const);
  return stories.every(isWhole) ? new Map(stories) : undefined;
}

type Entry = readonly [id: string, before: Before];

function isWhole(entry: readonly [string, Before | undefined]): entry is Entry {
  return entry[1] !== undefined;
}

function beforeIn(value: unknown): Before | undefined {
  if (!isObject(value)) return undefined;
  const { passes, reviewStatus, reviewCount } = value;
  const status = [null, ...REVIEW_STATUSES].find((each) => each === reviewStatus);
  if (typeof passes !== "boolean" || status === undefined || typeof reviewCount !== "number")
    return undefined;
  return { passes, reviewStatus: status, reviewCount };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
