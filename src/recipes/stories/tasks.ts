import { z } from "zod";
import { findJsonMistake } from "../../settings/json.js";
import { isTree, type Tree } from "../../settings/merge.js";

const REVIEW_STATUSES = ["needs_review", "changes_requested", "approved"] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** Each description is what messages say the field must be. */
export const StorySchema = z.object({
  id: z.string().regex(/\S/).describe("a string with something in it"),
  title: z.string().describe("a string"),
  description: z.string().optional().describe("a string"),
  /** Set by a review that approves, and by nothing else. */
  passes: z.boolean().describe("true or false"),
  priority: z.number().describe("a number"),
  acceptanceCriteria: z.array(z.string()).min(1).describe("a list of strings that is not empty"),
  reviewStatus: z
    .enum(REVIEW_STATUSES)
    .nullable()
    .describe(`null or one of ${REVIEW_STATUSES.map((status) => `"${status}"`).join(", ")}`),
  /** Reviews so far. */
  reviewCount: z.int().min(0).describe("a non-negative integer"),
  reviewFeedback: z.string().describe("a string"),
  notes: z.string().optional().describe("a string"),
  /** Stories that have to be done first. */
  dependsOn: z.array(z.string()).optional().describe("a list of story ids"),
});

const TaskListSchema = z.object({
  project: z.string().describe("a string"),
  branchName: z.string().describe("a string"),
  description: z.string().describe("a string"),
  verifyCommands: z.array(z.string().regex(/\S/)).optional().describe("a list of commands"),
  userStories: z.array(StorySchema).describe("a list of stories"),
});

export type Story = z.infer<typeof StorySchema>;
/** The stories of a project and where each of them stands: `ralph/tasks.json`. */
export type TaskList = z.infer<typeof TaskListSchema>;

/** Something that stands in the way of stopping, in the words that the agent gets. */
export interface Finding {
  /** 1: the list itself. 2: what must hold at any time. 2.5: what this iteration may change. 3: not committed. */
  check: 1 | 2 | 2.5 | 3;
  message: string;
  story?: string;
  /** Set where it is about another file than tasks.json. */
  file?: string;
  /** Set where the list is still sound but for this: the field of the story can be put back. */
  field?: string;
}

export interface Reading {
  /** undefined where the text is no list of stories. */
  tasks: TaskList | undefined;
  findings: Finding[];
}

/** All that was found, as one line. */
export function mistakes(name: string, findings: Finding[]): string {
  const all = findings.map(({ message }) => message.replace(/\.$/, "")).join("; ");
  return all.startsWith(name) ? all : `${name}: ${all}`;
}

/** The object that a text holds as JSON; an empty one where it holds none. */
export function treeIn(text: string | undefined): Tree {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isTree(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * Check 1: whether the text is a list of stories, and what is wrong where it is not. `adapt` makes one of what another
 * program wrote.
 */
export function readTasks(
  text: string | undefined,
  name = "ralph/tasks.json",
  adapt = (value: unknown): unknown => value,
): Reading {
  const broken = (...messages: string[]): Reading => ({
    tasks: undefined,
    findings: messages.map((message) => ({ check: 1, message })),
  });
  if (text === undefined) return broken(`${name} does not exist, or is no plain file of at most 5 MB.`);
  const content = text.replace(/^\uFEFF/, "");
  let value: unknown;
  try {
    value = adapt(JSON.parse(content));
  } catch {
    const { line, column, found } = findJsonMistake(content);
    return broken(`${name} is not valid JSON: unexpected ${found} at line ${line}, column ${column}.`);
  }
  const wrong = fieldFindings(value, name);
  if (wrong.length > 0) return { tasks: undefined, findings: wrong };
  // Not what zod returns: that would lose the order of the fields, and those that ralph does not know.
  const tasks = value as TaskList;
  if (tasks.userStories.length === 0)
    return broken(`${name}: userStories is empty: there is no story to work on.`);
  const unsound = [...duplicates(tasks.userStories), ...dependencyFindings(tasks.userStories)];
  if (unsound.length > 0) return { tasks: undefined, findings: unsound };
  const undocumented = tasks.userStories.filter(({ passes, notes = "" }) => passes && notes.trim() === "");
  return {
    tasks,
    findings: undocumented.map(({ id }) => ({
      check: 1,
      story: id,
      field: "passes",
      message: `Story ${id} has passes=true but its notes are empty. Write down what was done in notes.`,
    })),
  };
}

/** Fields that are missing, or are not what they must be: one finding for each. */
function fieldFindings(value: unknown, name: string): Finding[] {
  const issues = TaskListSchema.safeParse(value).error?.issues ?? [];
  const found = issues.map(({ path: [list = "", index, field] }): Finding => {
    if (list === "") return { check: 1, message: `${name} must be an object with userStories.` };
    if (list !== "userStories" || index === undefined)
      return { check: 1, message: `${name}: ${mistakeIn(value, TaskListSchema, list)}` };
    const story: unknown = (value as { userStories: unknown[] }).userStories[Number(index)];
    if (field === undefined) return { check: 1, message: `userStories[${String(index)}] must be an object.` };
    const id = StorySchema.shape.id.safeParse((story as Partial<Story>).id).data;
    const mistake = mistakeIn(story, StorySchema, field);
    if (id === undefined) return { check: 1, message: `Story number ${Number(index) + 1}: ${mistake}` };
    return { check: 1, message: `Story ${id}: ${mistake}`, story: id };
  });
  return [...new Map(found.map((one) => [one.message, one])).values()];
}

const MAX_SHOWN = 60;

function mistakeIn(value: unknown, schema: z.ZodObject, field: PropertyKey): string {
  const what = schema.shape[String(field)]?.description;
  const found = (value as Record<PropertyKey, unknown>)[field];
  if (found === undefined) return `${String(field)} is missing: it must be ${what}.`;
  const text = JSON.stringify(found);
  const shown = text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
  return `${String(field)} must be ${what}, and it is ${shown}.`;
}

function duplicates(stories: Story[]): Finding[] {
  const seen = new Set<string>();
  const again = stories.filter(({ id }) => seen.size === seen.add(id).size);
  return [...new Set(again.map(({ id }) => id))].map((id) => finding(id, "id is used more than once."));
}

function finding(story: string, what: string): Finding {
  return { check: 1, story, message: `Story ${story}: ${what}` };
}

/** Stories that wait for something that is not there, or for themselves. */
function dependencyFindings(stories: Story[]): Finding[] {
  const waits = new Map(stories.map(({ id, dependsOn = [] }) => [id, dependsOn]));
  const unknown = stories.flatMap(({ id, dependsOn = [] }) =>
    dependsOn
      .filter((other) => !waits.has(other))
      .map((other) => finding(id, `dependsOn names ${other}, which is no story.`)),
  );
  if (unknown.length > 0) return unknown;
  const [start = "", ...others] = circleIn(waits);
  if (others.length === 0) return [];
  return [finding(start, `dependsOn goes round in a circle: ${[start, ...others].join(" → ")}.`)];
}

/** Takes away what waits for nothing, again and again: what is left waits for itself. */
function circleIn(waits: Map<string, string[]>): string[] {
  const left = new Map(waits);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [id, others] of left) if (!others.some((other) => left.has(other))) left.delete(id);
  }
  const path: string[] = [];
  let [next] = left.keys();
  for (; next !== undefined && !path.includes(next); next = left.get(next)?.find((id) => left.has(id)))
    path.push(next);
  return next === undefined ? [] : [...path.slice(path.indexOf(next)), next];
}
