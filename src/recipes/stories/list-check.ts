import { findJsonMistake } from "../../settings/json.js";
import { dependencyFindings } from "./dependencies.js";
import type { Finding } from "./finding.js";
import { REVIEW_STATUSES, type Story, type TaskList } from "./tasks.js";

export interface Reading {
  /** Left out where the text is no list of stories. */
  tasks?: TaskList;
  findings: Finding[];
}

/** Check 1: whether the text is a list of stories, and what is wrong where it is not. */
export function readTasks(text: string | undefined, name = "ralph/tasks.json"): Reading {
  if (text === undefined) return { findings: [finding(`${name} does not exist.`)] };
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

type Fields = Record<string, unknown>;

interface Expected {
  what: string;
  is(value: unknown): boolean;
  optional?: true;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const hasWords = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

const LIST_FIELDS: Record<string, Expected> = {
  project: { what: "a string", is: isText },
  branchName: { what: "a string", is: isText },
  description: { what: "a string", is: isText },
  verifyCommands: {
    what: "a list of commands",
    is: (value) => isTexts(value) && (value as string[]).every(hasWords),
    optional: true,
  },
  userStories: { what: "a list of stories", is: Array.isArray },
};

const STORY_FIELDS: Record<string, Expected> = {
  id: { what: "a string with something in it", is: hasWords },
  title: { what: "a string", is: isText },
  description: { what: "a string", is: isText, optional: true },
  passes: { what: "true or false", is: (value) => typeof value === "boolean" },
  priority: { what: "a number", is: Number.isFinite },
  acceptanceCriteria: {
    what: "a list of strings that is not empty",
    is: (value) => isTexts(value) && (value as string[]).length > 0,
  },
  reviewStatus: {
    what: `null or one of ${REVIEW_STATUSES.map((status) => `"${status}"`).join(", ")}`,
    is: (value) => value === null || REVIEW_STATUSES.some((status) => status === value),
  },
  reviewCount: {
    what: "a non-negative integer",
    is: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
  reviewFeedback: { what: "a string", is: isText },
  notes: { what: "a string", is: isText, optional: true },
  dependsOn: { what: "a list of story ids", is: isTexts, optional: true },
};

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

function fieldFindings(
  value: Fields,
  fields: Record<string, Expected>,
  tell: (what: string) => Finding,
): Finding[] {
  return Object.entries(fields).flatMap(([name, { what, is, optional }]) => {
    if (!Object.hasOwn(value, name)) return optional ? [] : [tell(`${name} is missing: it must be ${what}.`)];
    const found = value[name];
    return is(found) ? [] : [tell(`${name} must be ${what}, and it is ${shown(found)}.`)];
  });
}

function duplicates(stories: unknown[]): Finding[] {
  const ids = stories.map((story) => (isObject(story) ? story["id"] : undefined)).filter(isText) as string[];
  const again = new Set(ids.filter((id, index) => ids.indexOf(id) < index));
  return [...again].map((id) => ({ ...finding(`Story ${id}: id is used more than once.`), story: id }));
}

const MAX_SHOWN = 60;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function finding(message: string): Finding {
  return { check: 1, message };
}
