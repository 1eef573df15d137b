import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { writeAtomic } from "../../records/files.js";
import { RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { editedBetween, type Work } from "../../workspace/uncommitted.js";
import { checkCommitted, checkTasks } from "./rules.js";
import {
  ownPath,
  putFileBack,
  type Stories,
  type StoriesRun,
  type Trusted,
  tasksText,
  workIn,
} from "./run.js";
import type { Mode } from "./state.js";
import type { Finding, Reading, Story, TaskList } from "./tasks.js";
import type { Rules } from "./transitions.js";

/** What the stories are held against: where they stood, and whose turn it is. */
export interface Held extends Pick<Rules, "failing" | "edited"> {
  mode: Mode | null;
  before: TaskList;
  commands: string[];
}

/** How an iteration began, and what verify commands have written since the run began. */
type Begun = Pick<Trusted, "work" | "blamed" | "byChecks">;

export function judge({ spec, files }: Stories, text: string | undefined, held: Held): Reading {
  return checkTasks(text, { ...spec, ...held, name: files.tasks });
}

interface Settling extends Held {
  iteration: number;
  /** The text of tasks.json. */
  text: string | undefined;
  theirs?: Theirs | undefined;
  /** Whether stories may be passed without a review. */
  isProven: boolean;
}

/** Writes what becomes of the list: without what was found, with what a person changed meanwhile. */
export function settle(run: StoriesRun, held: Settling, { tasks, findings }: Reading): TaskList {
  const { iteration, text, theirs, isProven } = held;
  if (tasks === undefined && text !== undefined) writeAtomic(brokenFile(run, iteration), text);
  const mended = findings.length === 0 && tasks !== undefined ? tasks : putBack(tasks, held, findings);
  const isSound = mended === tasks || checkTasks(JSON.stringify(mended), run.spec).findings.length === 0;
  const whole = isSound ? mended : held.before;
  const isUnproven = (story: Story, old: Story | undefined) => story.passes && !old?.passes;
  // Without reviews, only ralph's own verify commands prove that a story is done.
  const own =
    run.spec.skipReview && !isProven
      ? changedIn(whole, held.before, (one, old) => (isUnproven(one, old) ? { ...one, passes: false } : one))
      : whole;
  const after = theirs === undefined ? own : merged(theirs, own);
  // A list that is there already keeps its layout.
  if (JSON.stringify(theirs?.now ?? tasks) !== JSON.stringify(after))
    putFileBack(run, run.files.tasks, `${JSON.stringify(after, null, 2)}\n`);
  return after;
}

/** Where a tasks.json is kept that is no list of stories. */
export function brokenFile({ folderFor }: StoriesRun, iteration: number): string {
  return join(folderFor(iteration), "tasks.broken.json");
}

/** What agents have not committed; what was not committed before they began, and is as it was, is not theirs. */
export function blamedIn(
  { spec }: Pick<Stories, "spec">,
  { work, blamed }: Pick<Begun, "work" | "blamed">,
  now: Work | undefined,
): string[] | undefined {
  if (now === undefined) return undefined;
  const isUsers = (file: string): boolean =>
    spec.dirty.some((path) => file === path || (path.endsWith("/") && file.startsWith(path)));
  return Object.entries(now.dirty)
    .filter(([file, stamp]) => (work?.dirty[file] !== stamp || blamed.includes(file)) && !isUsers(file))
    .map(([file]) => file);
}

/** Files that a review edited, but for those that it may edit. */
export async function editedIn(
  { files, workspace }: Stories,
  { mode, work, byChecks }: Begun & Pick<Held, "mode">,
  now: Work | undefined,
): Promise<string[]> {
  if (mode !== "review" || work === undefined || now === undefined) return [];
  const allowed = [...byChecks, ...[files.tasks, files.progress].map((file) => ownPath(workspace, file))];
  const edited = await editedBetween(workspace, work, now);
  return edited.filter((file) => !allowed.includes(file) && !file.split("/").includes(RUNTIME_FOLDER));
}

/** Why the agent may not stop yet. Without a turn, nobody knows what may change. */
export async function stopFindings(
  stories: Stories,
  turn: (Held & Begun) | undefined,
  failing: string[],
): Promise<Reading> {
  const now = await workIn(stories);
  const text = tasksText(stories);
  const { tasks, findings } =
    turn === undefined
      ? checkTasks(text, { ...stories.spec, name: stories.files.tasks })
      : judge(stories, text, { ...turn, failing, edited: await editedIn(stories, turn, now) });
  const uncommitted = checkCommitted(blamedIn(stories, turn ?? { blamed: [] }, now));
  return { tasks, findings: [...findings, ...uncommitted] };
}

const FRESH = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "" };

function reviewOf({ passes, reviewStatus, reviewCount, reviewFeedback }: Story) {
  return { passes, reviewStatus, reviewCount, reviewFeedback };
}

function byId({ userStories }: TaskList): Map<string, Story> {
  return new Map(userStories.map((story) => [story.id, story]));
}

/** The list with stories changed; `old`: the same story in the list from before. */
function changedIn(
  list: TaskList,
  before: TaskList,
  change: (story: Story, old: Story | undefined) => Story,
): TaskList {
  const known = byId(before);
  return { ...list, userStories: list.userStories.map((story) => change(story, known.get(story.id))) };
}

/**
 * The list without what was found: review fields, criteria and stories are what they were before, all other
 * edits stay. A list that is no list any more is the one from before.
 */
function putBack(
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

/** What a person made of tasks.json, and what was there before. */
export interface Theirs {
  now: TaskList;
  left: TaskList | undefined;
  commands: string[];
}

/** The list of a person. Review fields and criteria that the person left as they were are those of `own`. */
function merged({ now, left }: Theirs, own: TaskList): TaskList {
  const was = left ?? { ...own, userStories: [] };
  const should = byId(own);
  const criteriaOf = ({ acceptanceCriteria }: Story) => ({ acceptanceCriteria });
  const list = changedIn(now, was, (story, old) => {
    const wanted = should.get(story.id);
    if (old === undefined || wanted === undefined) return story;
    const parts = [reviewOf, criteriaOf].filter((part) => isDeepStrictEqual(part(story), part(old)));
    return Object.assign({}, story, ...parts.map((part) => part(wanted)));
  });
  const known = new Set([...was.userStories, ...now.userStories].map(({ id }) => id));
  const missing = own.userStories.filter(({ id }) => !known.has(id));
  return { ...list, userStories: [...list.userStories, ...missing] };
}

/** Takes approvals back that are there since `before`, unless a person has made them since `left`. */
export function withoutApprovals(now: TaskList, before: TaskList, left: TaskList | undefined): TaskList {
  const was = left && byId(left);
  const isSame = (one: Story | undefined, { passes, reviewStatus }: Story): boolean =>
    one?.passes === passes && one.reviewStatus === reviewStatus;
  return changedIn(now, before, (story, old) => {
    const isDone = story.passes || story.reviewStatus === "approved";
    const isTheirs = was !== undefined && !isSame(was.get(story.id), story);
    if (!isDone || isTheirs || isSame(old, story)) return story;
    return { ...story, ...(old === undefined ? FRESH : reviewOf(old)) };
  });
}

/** Whether one of the stories is in both, perhaps under another title. */
export function isSameList(now: Partial<Story>[], { userStories }: TaskList): boolean {
  const text = ({ description, acceptanceCriteria }: Partial<Story>) => [description, acceptanceCriteria];
  const isSame = (story: Partial<Story>, old: Story): boolean =>
    story.title === old.title || (!!old.description && isDeepStrictEqual(text(story), text(old)));
  return now.some((story) => userStories.some((old) => old.id === story.id && isSame(story, old)));
}
