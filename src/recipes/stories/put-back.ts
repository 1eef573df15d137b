import type { Finding } from "./finding.js";
import type { Held } from "./judge.js";
import type { Story, TaskList } from "./tasks.js";

/**
 * The list without what was found: review fields, criteria and stories are what they were before, all other
 * edits stay. A list that is no list any more is the one from before.
 */
export function putBack(
  now: TaskList | undefined,
  { before, commands }: Pick<Held, "before" | "commands">,
  findings: Finding[],
): TaskList {
  if (now === undefined) return before;
  const known = new Map(before.userStories.map((story) => [story.id, story]));
  const found = new Set(findings.map(({ story }) => story));
  const foundIn = (name: string): Set<string | undefined> =>
    new Set(findings.filter(({ field }) => field === name).map(({ story }) => story));
  const weakened = foundIn("acceptanceCriteria");
  const missing = foundIn("id");
  const gone = before.userStories.filter(({ id }) => missing.has(id));
  const renamed = (story: Story): Story | undefined =>
    known.has(story.id) ? undefined : gone.find(({ title }) => title === story.title);
  const kept = now.userStories.map((story) => {
    const old = renamed(story) ?? known.get(story.id);
    if (old?.id === story.id && !found.has(story.id)) return story;
    if (old === undefined) return found.has(story.id) ? { ...story, ...FRESH } : story;
    return { ...story, ...reviewFields(old, story, weakened.has(old.id)), id: old.id };
  });
  return {
    ...now,
    ...(commands.length > 0 && { verifyCommands: withAll(now.verifyCommands ?? [], commands) }),
    userStories: withMissing(kept, gone, before),
  };
}

const FRESH = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "" };

function reviewFields(old: Story, { notes = "" }: Story, isWeakened: boolean): Partial<Story> {
  const { passes, reviewStatus, reviewCount, reviewFeedback, acceptanceCriteria } = old;
  const isBegun = reviewStatus !== null || passes;
  return {
    passes,
    reviewStatus,
    reviewCount,
    reviewFeedback,
    ...((isBegun || isWeakened) && { acceptanceCriteria }),
    ...(passes && notes.trim() === "" && { notes: old.notes ?? "" }),
  };
}

function withAll(now: string[], wanted: string[]): string[] {
  return [...wanted, ...now.filter((command) => !wanted.includes(command))];
}

/** Each in its old place. */
function withMissing(kept: Story[], gone: Story[], before: TaskList): Story[] {
  const all = [...kept];
  for (const story of gone) {
    if (all.some(({ id }) => id === story.id)) continue;
    all.splice(
      before.userStories.findIndex(({ id }) => id === story.id),
      0,
      story,
    );
  }
  return all;
}
