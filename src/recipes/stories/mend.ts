import { isDeepStrictEqual } from "node:util";
import type { Finding, Story, TaskList } from "./tasks.js";

const FRESH = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "" };

function reviewOf({ passes, reviewStatus, reviewCount, reviewFeedback }: Story) {
  return { passes, reviewStatus, reviewCount, reviewFeedback };
}

function byId({ userStories }: TaskList): Map<string, Story> {
  return new Map(userStories.map((story) => [story.id, story]));
}

/**
 * The list without what was found: review fields, criteria and stories are what they were before, all other
 * edits stay. A list that is no list any more is the one from before.
 */
export function putBack(
  now: TaskList | undefined,
  { before, commands }: { before: TaskList; commands: string[] },
  findings: Finding[],
): TaskList {
  if (now === undefined) return before;
  const known = byId(before);
  const has = (id: string, name?: string): boolean =>
    findings.some(({ story, field }) => story === id && (name === undefined || field === name));
  const gone = before.userStories.filter(({ id }) => has(id, "id"));
  const stories = now.userStories.map((story): Story => {
    const renamed = known.has(story.id) ? undefined : gone.find(({ title }) => title === story.title);
    if (renamed === undefined && !has(story.id)) return story;
    const old = renamed ?? known.get(story.id);
    if (old === undefined) return { ...story, ...FRESH };
    const isBegun = old.reviewStatus !== null || old.passes;
    return {
      ...story,
      ...reviewOf(old),
      id: old.id,
      ...((isBegun || has(old.id, "acceptanceCriteria")) && { acceptanceCriteria: old.acceptanceCriteria }),
      ...(old.passes && (story.notes ?? "").trim() === "" && { notes: old.notes ?? "" }),
    };
  });
  for (const story of gone) {
    const isThere = stories.some(({ id }) => id === story.id);
    if (!isThere) stories.splice(before.userStories.indexOf(story), 0, story);
  }
  const verifyCommands = [...new Set([...commands, ...(now.verifyCommands ?? [])])];
  return { ...now, ...(commands.length > 0 && { verifyCommands }), userStories: stories };
}

/** Without reviews, only ralph's own verify commands prove that a story is done. */
export function withoutNewPasses(now: TaskList, before: TaskList): TaskList {
  const known = byId(before);
  const userStories = now.userStories.map((story) =>
    story.passes && !known.get(story.id)?.passes ? { ...story, passes: false } : story,
  );
  return { ...now, userStories };
}

/** What a person made of tasks.json, and what was there before. */
export interface Theirs {
  now: TaskList;
  left: TaskList | undefined;
  commands: string[];
}

/** The list of a person. Review fields and criteria that the person left as they were are those of `own`. */
export function merged({ now, left }: Theirs, own: TaskList): TaskList {
  const was = left === undefined ? new Map<string, Story>() : byId(left);
  const should = byId(own);
  const theirs = byId(now);
  const criteriaOf = ({ acceptanceCriteria }: Story) => ({ acceptanceCriteria });
  const stories = now.userStories.map((story): Story => {
    const [old, wanted] = [was.get(story.id), should.get(story.id)];
    if (old === undefined || wanted === undefined) return story;
    const isKept = (part: (one: Story) => object): boolean => isDeepStrictEqual(part(story), part(old));
    return {
      ...story,
      ...(isKept(reviewOf) && reviewOf(wanted)),
      ...(isKept(criteriaOf) && criteriaOf(wanted)),
    };
  });
  const missing = own.userStories.filter(({ id }) => !was.has(id) && !theirs.has(id));
  return { ...now, userStories: [...stories, ...missing] };
}

/** Takes approvals back that are there since `before` and not in `left`, which a person has edited since. */
export function withoutApprovals(now: TaskList, before: TaskList, left: TaskList | undefined): TaskList {
  const [known, was] = [byId(before), left && byId(left)];
  const isSame = (one: Story | undefined, { passes, reviewStatus }: Story): boolean =>
    one?.passes === passes && one.reviewStatus === reviewStatus;
  const userStories = now.userStories.map((story) => {
    const old = known.get(story.id);
    const isDone = story.passes || story.reviewStatus === "approved";
    const isTheirs = was !== undefined && !isSame(was.get(story.id), story);
    if (!isDone || isTheirs || isSame(old, story)) return story;
    return { ...story, ...(old === undefined ? FRESH : reviewOf(old)) };
  });
  return { ...now, userStories };
}

/** Whether one of the stories is in both, perhaps under another title. */
export function isSameList(now: Partial<Story>[], { userStories }: TaskList): boolean {
  const text = ({ description, acceptanceCriteria }: Partial<Story>) => [description, acceptanceCriteria];
  const isSame = (story: Partial<Story>, old: Story): boolean =>
    story.title === old.title || (!!old.description && isDeepStrictEqual(text(story), text(old)));
  return now.some((story) => userStories.some((old) => old.id === story.id && isSame(story, old)));
}
