import { readFileSync } from "node:fs";
import { describeSystemError, RalphError } from "../../errors.js";
import { refuseSpecialFile } from "../../plain-file.js";
import { findJsonMistake } from "../../settings/json.js";
import { readTasks } from "./list-check.js";
import type { TaskList } from "./tasks.js";

export interface Imported {
  tasks: TaskList;
  /** Stories that were passed there, and have to be reviewed here. */
  passed: string[];
}

/** A list of stories that knows no reviews, such as a prd.json with `userStories[].passes`. */
export function importStories(file: string): Imported {
  const value = parsed(file, read(file));
  const list = isObject(value) ? value : {};
  const stories: unknown = list["userStories"];
  if (!Array.isArray(stories)) throw invalid(file, "it has no list called userStories");
  const passed = stories.filter((story) => isObject(story) && story["passes"] === true).map(idOf);
  const text = JSON.stringify({
    project: list["project"] ?? "",
    branchName: list["branchName"] ?? "ralph/feature-name",
    description: list["description"] ?? "",
    verifyCommands: list["verifyCommands"] ?? [],
    userStories: stories.map(withReviewFields),
  });
  const { tasks, findings } = readTasks(text, file);
  if (tasks !== undefined && findings.length === 0) return { tasks, passed };
  throw invalid(file, findings.map(({ message }) => message.replace(/\.$/, "")).join("; "));
}

/** A story that nobody has reviewed is not done, whatever was said of it. */
function withReviewFields(story: unknown, index: number): unknown {
  if (!isObject(story)) return story;
  const { passes, notes } = story;
  return {
    description: "",
    priority: index + 1,
    notes: "",
    dependsOn: [],
    ...story,
    ...(passes === true && notes === "" && { notes: "imported as passed" }),
    passes: passes === true || passes === undefined ? false : passes,
    reviewStatus: passes === true ? "needs_review" : null,
    reviewCount: 0,
    reviewFeedback: "",
  };
}

function idOf(story: Record<string, unknown>): string {
  return String(story["id"]);
}

function read(file: string): string {
  refuseSpecialFile(file);
  try {
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw invalid(file, describeSystemError(error));
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { line, column, found } = findJsonMistake(text);
    throw invalid(file, `unexpected ${found} at line ${line}, column ${column}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(file: string, why: string): RalphError {
  return new RalphError(`cannot import ${file}: ${why}`, { code: "import_invalid" });
}
