import { findJsonMistake } from "../../settings/json.js";
import { dependencyFindings } from "./dependencies.js";
import { fieldFindings, LIST_FIELDS, STORY_FIELDS } from "./fields.js";
import type { Finding } from "./finding.js";
import type { Story, TaskList } from "./tasks.js";

export interface Reading {
  /** Left out where the text is no list of stories. */
  tasks?: TaskList;
  findings: Finding[];
}

/** Check 1: whether the text is a list of stories, and what is wrong where it is not. */
export function readTasks(text: string | undefined, name = "ralph/tasks.json"): Reading {
  if (text === undefined)
    return { findings: [finding(`${name} does not exist, or is no plain file of at most 5 MB.`)] };
  const content = text.replace(/^\uFEFF/, "");
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    const { line, column, found } = findJsonMistake(content);
    return {
      findings: [
        finding(`${name} is not valid JSON: unexpected ${found} at line ${line}, column ${column}.`),
      ],
    };
  }
  const findings = listFindings(value, name);
  if (findings.length > 0) return { findings };
  const tasks = value as TaskList;
  return { tasks, findings: soundFindings(tasks) };
}

/** What is wrong with a list that has everything it needs. */
function soundFindings({ userStories }: TaskList): Finding[] {
  return userStories
    .filter(({ passes, notes }) => passes && (notes ?? "").trim() === "")
    .map(({ id }) => ({
      check: 1,
      story: id,
      field: "passes",
      message: `Story ${id} has passes=true but its notes are empty. Write down what was done in notes.`,
    }));
}

function listFindings(value: unknown, name: string): Finding[] {
  if (!isObject(value)) return [finding(`${name} must be an object with userStories.`)];
  const own = fieldFindings(value, LIST_FIELDS, (what) => finding(`${name}: ${what}`));
  const stories: unknown = value["userStories"];
  if (!Array.isArray(stories)) return own;
  if (stories.length === 0)
    return [...own, finding(`${name}: userStories is empty: there is no story to work on.`)];
  const found = [...own, ...stories.flatMap(storyFindings), ...duplicates(stories)];
  return found.length > 0 ? found : dependencyFindings(stories as Story[]);
}

function storyFindings(value: unknown, index: number): Finding[] {
  if (!isObject(value)) return [finding(`userStories[${index}] must be an object.`)];
  const id = typeof value["id"] === "string" && value["id"].trim() !== "" ? value["id"] : undefined;
  const who = id === undefined ? `Story number ${index + 1}` : `Story ${id}`;
  return fieldFindings(value, STORY_FIELDS, (what) => ({
    ...finding(`${who}: ${what}`),
    ...(id !== undefined && { story: id }),
  }));
}

function duplicates(stories: unknown[]): Finding[] {
  const ids = stories.flatMap((story) =>
    isObject(story) && typeof story["id"] === "string" ? [story["id"]] : [],
  );
  const again = new Set(ids.filter((id, index) => ids.indexOf(id) < index));
  return [...again].map((id) => ({ ...finding(`Story ${id}: id is used more than once.`), story: id }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function finding(message: string): Finding {
  return { check: 1, message };
}
