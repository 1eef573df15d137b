import { z } from "zod";
import { orElse } from "../../errors.js";
import { readJsonText } from "../../settings/json.js";
import { isTree, type JsonTree } from "../../settings/merge.js";

const REVIEW_STATUSES = ["needs_review", "changes_requested", "approved"] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** Each description is what messages say the field must be. */
export const StorySchema = z.object({
  id: z.string().regex(/\S/).describe("a non-empty string"),
  title: z.string().describe("a string"),
  description: z.string().optional().describe("a string"),
  /** Set by a review that approves, and by nothing else. */
  passes: z.boolean().describe("true or false"),
  priority: z.number().describe("a number"),
  acceptanceCriteria: z.array(z.string()).min(1).describe("a non-empty list of strings"),
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
export function treeIn(text: string | undefined): JsonTree {
  const value: unknown = orElse(() => JSON.parse(text ?? ""), undefined);
  return isTree(value) ? value : {};
}

/** Check 1: is it a list of stories? `adapt` makes one of what another program wrote. */
export function readTasks(
  text: string | undefined,
  name = "ralph/tasks.json",
  adapt = (value: unknown): unknown => value,
): Reading {
  const broken = (message: string): Reading => ({ tasks: undefined, findings: [{ check: 1, message }] });
  if (text === undefined) return broken(`${name} does not exist, or is not a plain file of at most 5 MB.`);
  const content = text.replace(/^\uFEFF/, "");
  let value: unknown;
  try {
    value = adapt(JSON.parse(content));
  } catch {
    return broken(`${name} is not valid JSON: ${readJsonText(content, true).mistake}.`);
  }
  const wrong = fieldFindings(value, name);
  if (wrong.length > 0) return { tasks: undefined, findings: wrong };
  // Not what zod returns: that would lose the order of the fields, and those that ralph does not know.
  const tasks = value as TaskList;
  const { userStories } = tasks;
  if (userStories.length === 0) return broken(`${name}: userStories is empty: there is no story to work on.`);
  const unsound = idFindings(userStories);
  if (unsound.length > 0) return { tasks: undefined, findings: unsound };
  const findings = userStories
    .filter(({ passes, notes = "" }) => passes && notes.trim() === "")
    .map(({ id }): Finding => {
      const message = `Story ${id} has passes=true but its notes are empty. Write down what was done in notes.`;
      return { check: 1, story: id, field: "passes", message };
    });
  return { tasks, findings };
}

/** Fields that are missing, or are not what they must be: one finding for each. */
function fieldFindings(value: unknown, name: string): Finding[] {
  const issues = TaskListSchema.safeParse(value).error?.issues ?? [];
  const found = issues.map(({ path: [list = "", index, field] }): Finding => {
    if (list === "") return { check: 1, message: `${name} must be an object with userStories.` };
    if (list !== "userStories" || index === undefined)
      return { check: 1, message: `${name}: ${mistakeIn(value, TaskListSchema, list)}` };
    if (field === undefined) return { check: 1, message: `userStories[${String(index)}] must be an object.` };
    const story = (value as TaskList).userStories[Number(index)];
    const id = StorySchema.shape.id.safeParse(story?.id).data;
    const who = id ?? `number ${Number(index) + 1}`;
    const message = `Story ${who}: ${mistakeIn(story, StorySchema, field)}`;
    return { check: 1, message, ...(id !== undefined && { story: id }) };
  });
  return [...new Map(found.map((one) => [one.message, one])).values()];
}

function mistakeIn(value: unknown, schema: z.ZodObject, field: PropertyKey): string {
  const what = schema.shape[String(field)]?.description;
  const found = (value as Record<PropertyKey, unknown>)[field];
  if (found === undefined) return `${String(field)} is missing: it must be ${what}.`;
  const text = JSON.stringify(found);
  const shown = text.length <= 60 ? text : `${text.slice(0, 59)}…`;
  return `${String(field)} must be ${what}, but is ${shown}.`;
}

/** Ids that are there twice, and stories that wait for something that is not there, or for themselves. */
function idFindings(stories: Story[]): Finding[] {
  const waits = new Map(stories.map(({ id, dependsOn = [] }) => [id, dependsOn]));
  const found = stories.flatMap(({ id, dependsOn = [] }, index) => [
    ...(stories.findIndex((other) => other.id === id) < index
      ? [{ id, what: "id is used more than once." }]
      : []),
    ...dependsOn
      .filter((other) => !waits.has(other))
      .map((other) => ({ id, what: `dependsOn names ${other}, which is not a story.` })),
  ]);
  const [id = "", ...others] = found.length > 0 ? [] : circleIn(waits);
  if (others.length > 0) found.push({ id, what: `dependsOn has a cycle: ${[id, ...others].join(" → ")}.` });
  return found.map(({ id: story, what }) => ({ check: 1, story, message: `Story ${story}: ${what}` }));
}

function circleIn(waits: Map<string, string[]>): string[] {
  const seen = new Set<string>();
  const walk = (id: string, path: string[]): string[] => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    if (seen.has(id)) return [];
    seen.add(id);
    const others = waits.get(id) ?? [];
    return others.reduce<string[]>(
      (found, other) => (found.length > 0 ? found : walk(other, [...path, id])),
      [],
    );
  };
  return [...waits.keys()].map((id) => walk(id, [])).find((found) => found.length > 0) ?? [];
}

/** Whether one of the stories is in both. */
export function isSameList(
  now: { id?: unknown; title?: unknown }[],
  { userStories }: Pick<TaskList, "userStories">,
): boolean {
  return now.some(({ id, title }) => userStories.some((old) => old.id === id && old.title === title));
}

/** The review fields of a story that nobody has begun. */
export const FRESH = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "" };

/** A list as people write it, which needs only the id, the title and the criteria of each story, with all its fields. */
export function filledIn(value: unknown): unknown {
  if (!isTree(value) || !Array.isArray(value["userStories"])) return value;
  const userStories = value["userStories"].map((story: unknown, index) => {
    if (!isTree(story)) return story;
    const { criteria, ...own } = story;
    const wanted = criteria !== undefined && { acceptanceCriteria: criteria };
    return { priority: index + 1, ...FRESH, ...wanted, ...own };
  });
  return { project: "", branchName: "", description: "", ...value, userStories };
}

/** The list with the fields that were found as they were before; a broken list is the one from before. */
export function mended(
  now: TaskList | undefined,
  before: TaskList,
  commands: string[],
  findings: Pick<Finding, "story" | "field">[],
): TaskList {
  if (now === undefined) return before;
  if (findings.length === 0) return now;
  const has = (id: string, name?: string): boolean =>
    findings.some(({ story, field }) => story === id && (name === undefined || field === name));
  const known = new Map(before.userStories.map((story) => [story.id, story]));
  const gone = before.userStories.filter(({ id }) => has(id, "id"));
  const isRenumbered = ({ id, title }: Story): boolean =>
    !known.has(id) && gone.some((story) => story.title === title);
  const stories = now.userStories
    .filter((story) => !isRenumbered(story))
    .map((story): Story => {
      if (!has(story.id)) return story;
      const old = known.get(story.id);
      if (old === undefined) return { ...story, ...FRESH };
      const { passes, reviewStatus, reviewCount, reviewFeedback, acceptanceCriteria, notes = "" } = old;
      const keepsCriteria = reviewStatus !== null || passes || has(story.id, "acceptanceCriteria");
      return {
        ...{ ...story, passes, reviewStatus, reviewCount, reviewFeedback },
        ...(keepsCriteria && { acceptanceCriteria }),
        ...(passes && (story.notes ?? "").trim() === "" && { notes }),
      };
    });
  for (const story of gone) stories.splice(before.userStories.indexOf(story), 0, story);
  const verifyCommands = [...new Set([...commands, ...(now.verifyCommands ?? [])])];
  const list = { ...now, ...(commands.length > 0 && { verifyCommands }), userStories: stories };
  return readTasks(JSON.stringify(list)).tasks === undefined ? before : list;
}
