import type { Finding } from "./finding.js";
import { REVIEW_STATUSES } from "./tasks.js";

/** What a field must be. */
interface Expected {
  what: string;
  is(value: unknown): boolean;
  optional?: true;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const hasWords = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

export const LIST_FIELDS: Record<string, Expected> = {
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

export const STORY_FIELDS: Record<string, Expected> = {
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

/** Fields that are missing, or are not what they must be. */
export function fieldFindings(
  value: Record<string, unknown>,
  fields: Record<string, Expected>,
  tell: (what: string) => Finding,
): Finding[] {
  return Object.entries(fields).flatMap(([name, { what, is, optional }]) => {
    if (!Object.hasOwn(value, name)) return optional ? [] : [tell(`${name} is missing: it must be ${what}.`)];
    const found = value[name];
    return is(found) ? [] : [tell(`${name} must be ${what}, and it is ${shown(found)}.`)];
  });
}

const MAX_SHOWN = 60;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
}
