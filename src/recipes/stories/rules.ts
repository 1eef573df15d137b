import { join } from "node:path";
import { z } from "zod";
import { textAt } from "../../workspace/content.js";
import { someOf } from "../../workspace/git.js";
import { ACTIVE_FILE } from "../../workspace/runtime.js";
import {
  AT_CAP,
  DEFAULT_REVIEW_CAP,
  type Mode,
  type ReviewRules,
  STORIES_FOLDER,
  storyFiles,
} from "./state.js";
import {
  type Finding,
  FRESH,
  filledIn,
  type Reading,
  readTasks,
  type Story,
  StorySchema,
  type TaskList,
  treeIn,
} from "./tasks.js";

/** Where a story stood before the iteration. `.ralph-active` has the first four fields, the loop knows all. */
type Before = Pick<Story, "id" | "passes" | "reviewStatus" | "reviewCount"> & Partial<Story>;

/** What the text of tasks.json is held against. */
export interface Rules extends ReviewRules {
  name?: string;
  /** What the iteration is for; null: nobody's turn, so that nothing may change. */
  mode?: Mode | null | undefined;
  /** Where the stories stood before it. Without this and `mode`, check 2.5 is left out. */
  before?: { userStories: Before[] } | undefined;
  /** Verify commands that failed when they were last run. */
  failing?: string[] | undefined;
  /** Verify commands that the run began with. */
  commands?: string[] | undefined;
  /** Files that a review edited and may not edit. */
  edited?: string[] | undefined;
  /** A person wrote it: what is missing is filled in. */
  isPersons?: boolean;
}

type OldList = ReadonlyMap<string, Before>;

/** Checks 1, 2 and 2.5 over the text of tasks.json; undefined: there is no such file. */
export function checkTasks(text: string | undefined, rules: Rules): Reading {
  const { tasks, findings } = readTasks(text, rules.name, rules.isPersons ? filledIn : undefined);
  if (tasks === undefined) return { tasks, findings };
  const { userStories, verifyCommands = [] } = tasks;
  const before: OldList = new Map(rules.before?.userStories.map((story) => [story.id, story]));
  const hasReviews = !rules.skipReview;
  // An agent that takes a check away would pass it. A command that an agent added may go again.
  const lost = (rules.commands ?? []).filter((command) => !verifyCommands.includes(command)).slice(0, 1);
  const all = [
    ...findings,
    ...(hasReviews ? userStories.flatMap((story) => stateFindings(story, rules.reviewCap)) : []),
    ...[...before.values()].flatMap((old) => lossFindings(old, userStories, before, rules.only)),
    ...(hasReviews && rules.before !== undefined ? moveFindings(userStories, rules, before) : []),
    ...lost.map((command): Finding => {
      const message = `verifyCommands lost "${command}". You may add commands, but not remove those that the run began with.`;
      return { check: 2.5, field: "verifyCommands", message };
    }),
    ...editFindings(tasks, rules, before),
  ];
  return { tasks, findings: all };
}

function finding(story: string, field: keyof Story, message: string): Finding {
  return { check: 2.5, story, field, message };
}

/** Check 2: what must hold of the reviews at any time. */
function stateFindings(story: Story, cap: number): Finding[] {
  const { id, passes, reviewStatus, reviewCount, reviewFeedback } = story;
  const isApproved = reviewStatus === "approved";
  const isBroken = {
    passes: passes && !isApproved,
    reviewStatus: !passes && isApproved,
    reviewFeedback: reviewStatus === "changes_requested" && reviewFeedback.trim() === "",
    // One above the cap is left for a review of work whose checks failed at the cap; any review may approve.
    reviewCount: reviewCount > cap + 1 && !(passes && isApproved),
  };
  const what = {
    passes: `has passes=true but reviewStatus is '${reviewStatus}', not 'approved'. Only review iterations may approve stories. Set passes back to false or complete the review cycle.`,
    reviewStatus: `has reviewStatus 'approved' but passes=false: the two are out of sync. A review that approves sets both.`,
    reviewFeedback: `has reviewStatus 'changes_requested' but its reviewFeedback is empty: feedback required. Write what needs to be fixed and where.`,
    reviewCount: `has reviewCount ${reviewCount}, more than the review cap (${cap}) allows.`,
  };
  return (Object.keys(what) as (keyof typeof what)[])
    .filter((field) => isBroken[field])
    .map((field) => ({ check: 2, story: id, field, message: `Story ${id} ${what[field]}` }));
}

/** What no iteration may do to a story that was there before, with or without reviews. */
function lossFindings(old: Before, stories: Story[], before: OldList, only?: string): Finding[] {
  const { id } = old;
  const story = stories.find((one) => one.id === id);
  if (story === undefined) {
    const what = "You may add, split and reorder stories, but not remove one. Put it back under its id.";
    return [finding(id, "id", `Story ${id} was deleted or renumbered. ${what}`)];
  }
  const isUnbegun = old.reviewStatus === null && !old.passes;
  const elsewhere = isUnbegun && only === undefined ? movedFrom(story, old, stories, before) : [];
  const still = [...story.acceptanceCriteria, ...elsewhere];
  const lost = old.acceptanceCriteria?.find((criterion) => !still.includes(criterion));
  if (lost === undefined) return [];
  const was = isUnbegun ? "" : `is ${old.reviewStatus ?? "passed"} and `;
  const rule = isUnbegun
    ? "You may move a criterion to another story that is not done, but not drop it."
    : "You may not weaken the criteria of an implemented story.";
  const message = `Story ${id} ${was}lost an acceptance criterion: "${lost}". ${rule}`;
  return [finding(id, "acceptanceCriteria", message)];
}

/** Criteria of other stories may take over those of one that nobody had begun, if a story is added. */
function movedFrom(story: Story, old: Before, stories: Story[], before: OldList): string[] {
  const isSplit = stories.some(({ id }) => !before.has(id));
  const hasNew = story.acceptanceCriteria.some((criterion) => !old.acceptanceCriteria?.includes(criterion));
  if (!isSplit && hasNew) return [];
  return stories
    .filter(({ id, passes, reviewStatus }) => id !== story.id && !passes && reviewStatus !== "approved")
    .flatMap(({ acceptanceCriteria }) => acceptanceCriteria);
}

const MOVING = ["passes", "reviewStatus", "reviewCount"] as const;

/** A story, and which of its review fields changed. */
interface Edit {
  story: Story;
  old: Before;
  changed: (typeof MOVING)[number][];
  /** `passes false → true` */
  arrow: string;
  /** Whether its feedback changed, too. */
  isRewritten: boolean;
}

/** Check 2.5: whether the review fields changed only as this kind of iteration may change them. */
function moveFindings(stories: Story[], rules: Rules, before: OldList): Finding[] {
  const { mode } = rules;
  if (mode === undefined) return [];
  const all = stories.map((story): Edit => {
    const old = before.get(story.id) ?? { ...FRESH, id: story.id };
    const changed = MOVING.filter((field) => story[field] !== old[field]);
    const arrow = changed.map((field) => `${field} ${old[field]} → ${story[field]}`).join(", ");
    const isRewritten = old.reviewFeedback !== undefined && story.reviewFeedback !== old.reviewFeedback;
    return { story, old, changed, arrow, isRewritten };
  });
  const moves = all.filter(({ story, changed }) => before.has(story.id) && changed.length > 0);
  const isSubject = (move: Edit): boolean =>
    mode === "review" ? move.old.reviewStatus === "needs_review" : isSubmission(move, mode);
  const subject = moves.find(isSubject) ?? moves[0];
  const fresh = all.filter(({ story }) => !before.has(story.id));
  return [
    ...fresh.flatMap(({ story, changed, isRewritten }) =>
      changed.length > 0 || isRewritten ? [finding(story.id, "reviewStatus", notFresh(story.id))] : [],
    ),
    ...all
      .filter(
        ({ story, changed, isRewritten }) => before.has(story.id) && isRewritten && changed.length === 0,
      )
      .map(({ story }) => planted(story.id)),
    ...moves.flatMap((move) => {
      const { id } = move.story;
      const what = mistakeIn(move, subject, rules);
      if (what === undefined) return mode === "implement" && move.isRewritten ? [planted(id)] : [];
      return [finding(id, move.changed[0] ?? "passes", ILLEGAL[mode ?? "nobody"](id, what))];
    }),
    ...(mode === "review" && subject === undefined ? notReviewed(before) : []),
  ];
}

function notFresh(id: string): string {
  return `Story ${id} is new, and new stories must start incomplete: passes=false, reviewStatus=null, reviewCount=0, no reviewFeedback.`;
}

/** Only a review may write feedback, and a fix clears it. */
function planted(id: string): Finding {
  return finding(id, "reviewFeedback", `Story ${id}: reviewFeedback was changed without a review.`);
}

/** Nothing can be put back: the review is still to be made. */
function notReviewed(before: OldList): Finding[] {
  const waiting = [...before.values()].filter(({ reviewStatus }) => reviewStatus === "needs_review");
  return waiting.slice(0, 1).map(({ id, reviewCount }) => {
    const what = `nothing was changed, and the review must increment reviewCount (${reviewCount} → ${reviewCount + 1}) and either approve the story or request changes`;
    return { check: 2.5, story: id, message: ILLEGAL.review(id, what) };
  });
}

/** What is said of a move that the iteration may not make. */
const ILLEGAL: Record<Mode | "nobody", (id: string, what: string) => string> = {
  implement: (id, what) =>
    `Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story ${id} had illegal transition: ${what}.`,
  review: (id, what) => `Review iteration made illegal transition on story ${id}: ${what}.`,
  "review-fix": (id, what) =>
    `Review-fix iterations cannot approve stories. Story ${id} must go back to needs_review for re-review. Illegal transition: ${what}.`,
  nobody: (id, what) => `Story ${id} was changed between two iterations: ${what}.`,
};

function isSubmission({ story, old, changed }: Edit, mode: Mode | null): boolean {
  if (changed.length !== 1 || story.reviewStatus !== "needs_review") return false;
  return old.reviewStatus === (mode === "implement" ? null : "changes_requested");
}

/** What is wrong with a move. `subject`: the one move that the iteration may make. */
function mistakeIn(move: Edit, subject: Edit | undefined, rules: Rules): string | undefined {
  const { story, changed, arrow } = move;
  const { mode, only = story.id } = rules;
  if (story.id !== only) return `${arrow}; other agents work on the other stories, and this one on ${only}`;
  if (mode === "review" && move === subject) return reviewMistake(move, rules);
  if (mode === "review")
    return `${arrow}; a review may only modify one story, and this one is of ${subject?.story.id}`;
  if (!mode) return arrow;
  if (!isSubmission(move, mode)) {
    const counts = mode === "implement" && changed.includes("reviewCount");
    return counts ? `${arrow}. Implement iterations cannot increment reviewCount` : arrow;
  }
  if (move !== subject) return `${arrow}, and another story was submitted already`;
  if (mode === "implement" || story.reviewFeedback.trim() === "") return undefined;
  return "reviewFeedback is still there, and must be cleared with needs_review";
}

/** A review approves a story that waits for it, or sends it back. */
function reviewMistake({ story, old, arrow }: Edit, { reviewCap, failing = [] }: Rules): string | undefined {
  const { passes, reviewStatus, reviewCount, reviewFeedback } = story;
  if (old.reviewStatus !== "needs_review") return `${arrow}; only a story with needs_review can be reviewed`;
  if (reviewCount !== old.reviewCount + 1)
    return `reviewCount ${old.reviewCount} → ${reviewCount}; a review must increment reviewCount by 1`;
  if (reviewStatus === "approved" && passes) {
    if (failing.length > 0) return `it cannot be approved while a check fails (${failing[0]})`;
    if (reviewCount >= reviewCap || !reviewFeedback.trimStart().startsWith(AT_CAP)) return undefined;
    return `${AT_CAP} at review ${reviewCount}, and the review cap is ${reviewCap}; request changes where something is wrong`;
  }
  if (reviewStatus !== "changes_requested" || passes)
    return `${arrow}; a review sets reviewStatus "approved" and passes=true, or reviewStatus "changes_requested"`;
  if (reviewFeedback.trim() === "")
    return "reviewStatus changes_requested with empty reviewFeedback; feedback required";
  if (reviewCount < reviewCap || failing.length > 0) return undefined;
  return `reviewStatus changes_requested at the review cap (${reviewCap}); approve it and write what is left to reviewFeedback after ${AT_CAP}`;
}

/** A review that mends the work would approve what nobody has reviewed. One that asks for changes may count. */
function editFindings({ userStories }: TaskList, { mode, edited = [] }: Rules, before: OldList): Finding[] {
  const [file] = edited;
  if (mode !== "review" || file === undefined) return [];
  const what = `A review may change only tasks.json and progress.txt, and this one changed ${someOf(edited)}.`;
  const isNew = ({ id, passes, reviewStatus }: Story): boolean =>
    (passes || reviewStatus === "approved") && before.get(id)?.reviewStatus !== "approved";
  const approved = userStories.filter(isNew);
  if (approved.length === 0) return [{ check: 2.5, file, message: what }];
  return approved.map(({ id }) => {
    const message = `Story ${id} is not approved. ${what} The next review judges it as it is now.`;
    return finding(id, "reviewStatus", message);
  });
}

export const GIT_CANNOT_TELL = `git status fails, so ralph cannot tell whether everything is committed. Fix the repository.`;

const BEFORE_STOPPING = `Before you stop:
1. Update ralph/progress.txt with what was accomplished and what was learned.
2. Consider if any lasting patterns belong in CLAUDE.md or .claude/rules/.
3. Commit ALL changes, including progress.txt and tasks.json updates.
Then stop again.`;

/** Check 3: everything is committed. */
export function checkCommitted(files: string[] | undefined): Finding[] {
  if (files === undefined) return [{ check: 3, message: GIT_CANNOT_TELL }];
  if (files.length === 0) return [];
  return [{ check: 3, message: `There are uncommitted changes: ${someOf(files, 5)}.\n${BEFORE_STOPPING}` }];
}

/** The snapshot makes sense as a whole, or none of it is used: a missing story would look like a new one. */
const Active = z.object({
  skipReview: z.boolean().catch(false),
  reviewCap: z.int().catch(DEFAULT_REVIEW_CAP),
  iterationMode: z.enum(["implement", "review", "review-fix"]).optional().catch(undefined),
  preIterationSnapshot: z
    .record(z.string(), StorySchema.pick({ passes: true, reviewStatus: true, reviewCount: true }))
    .optional()
    .catch(undefined),
});

/** The text of tasks.json in a workspace, and the rules that `.ralph-active` gives for it: for a hook without a loop. */
export function readActive(workspace: string): { tasks: string | undefined; rules: Rules } {
  const active = Active.parse(treeIn(textAt(join(workspace, ACTIVE_FILE))));
  const { skipReview, reviewCap, iterationMode: mode, preIterationSnapshot: before } = active;
  const userStories = Object.entries(before ?? {}).map(([id, story]) => ({ id, ...story }));
  const held = mode !== undefined && before !== undefined && { mode, before: { userStories } };
  const tasks = textAt(join(workspace, storyFiles(STORIES_FOLDER).tasks));
  return { tasks, rules: { skipReview, reviewCap, ...held } };
}
