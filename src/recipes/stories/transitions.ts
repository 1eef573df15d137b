import { AT_CAP, type Mode, type ReviewRules } from "./state.js";
import type { Finding, Story, TaskList } from "./tasks.js";

/** Where a story stood before the iteration. `.ralph-active` has the first three, the loop knows all. */
export interface Before extends Pick<Story, "id" | "passes" | "reviewStatus" | "reviewCount"> {
  acceptanceCriteria?: string[];
  reviewFeedback?: string;
}

/** By the ids of the stories. */
export type Snapshot = ReadonlyMap<string, Before>;

/** What the text of tasks.json is held against. */
export interface Rules extends ReviewRules {
  /** What the file is called in messages. */
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
}

/** The same with the stories of before by their ids. */
export type RuleSet = Omit<Rules, "before"> & { before: Snapshot };

export function finding(story: string, field: keyof Story, message: string): Finding {
  return { check: 2.5, story, field, message };
}

/** A story whose review fields changed. */
interface Move {
  story: Story;
  old: Before;
  changed: (typeof MOVING)[number][];
}

const MOVING = ["passes", "reviewStatus", "reviewCount"] as const;

/** Check 2.5: whether the review fields changed only as this kind of iteration may change them. */
export function moveFindings({ userStories }: TaskList, rules: RuleSet): Finding[] {
  const moves: Move[] = [];
  const others: Finding[] = [];
  for (const story of userStories) {
    const old = rules.before.get(story.id);
    const changed = MOVING.filter((field) => story[field] !== old?.[field]);
    if (old === undefined) others.push(...notFresh(story));
    else if (changed.length > 0) moves.push({ story, old, changed });
    else if (isRewritten({ story, old })) others.push(rewritten(story.id));
  }
  return [...others, ...illegalMoves(moves, rules)];
}

function notFresh({ id, passes, reviewStatus, reviewCount, reviewFeedback }: Story): Finding[] {
  if (!passes && reviewStatus === null && reviewCount === 0 && reviewFeedback.trim() === "") return [];
  const start = "passes=false, reviewStatus=null, reviewCount=0, no reviewFeedback";
  const message = `Story ${id} is new, and new stories must start incomplete: ${start}.`;
  return [finding(id, "reviewStatus", message)];
}

/** Feedback is the review's word: nobody else may change it. */
function isRewritten({ story, old }: Pick<Move, "story" | "old">): boolean {
  return old.reviewFeedback !== undefined && story.reviewFeedback !== old.reviewFeedback;
}

function rewritten(id: string): Finding {
  return finding(id, "reviewFeedback", `Story ${id}: reviewFeedback was changed without a review.`);
}

/** What is said of a move that the iteration may not make. */
const ILLEGAL: Record<Mode | "nobody", (id: string, what: string) => string> = {
  implement: (id, what) =>
    `Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story ${id} had illegal transition: ${what}.`,
  review: (id, what) => `Review iteration made illegal transition on story ${id}: ${what}.`,
  "review-fix": (id, what) =>
    `Review-fix iterations cannot approve stories. Story ${id} must go back to needs_review for re-review. Illegal transition: ${what}.`,
  nobody: (id, what) =>
    `Review fields may only be changed by the agent of an iteration. Story ${id} was changed between two iterations: ${what}.`,
};

function illegalMoves(moves: Move[], rules: RuleSet): Finding[] {
  const { mode } = rules;
  const illegal = (move: Move, what = arrow(move)): Finding => {
    const { story, changed } = move;
    return finding(story.id, changed[0] ?? "reviewStatus", ILLEGAL[mode ?? "nobody"](story.id, what));
  };
  if (mode === "review") return reviewMoves(moves, rules, illegal);
  if (mode !== "implement" && mode !== "review-fix") return moves.map((move) => illegal(move));
  const from = mode === "implement" ? null : "changes_requested";
  const isSubmission = ({ story, old, changed }: Move): boolean =>
    changed.length === 1 && old.reviewStatus === from && story.reviewStatus === "needs_review";
  const first = moves.find(isSubmission);
  return moves.flatMap((move) => {
    const { story, changed } = move;
    if (!isSubmission(move)) {
      const counts = mode === "implement" && changed.includes("reviewCount");
      const more = counts ? ". Implement iterations cannot increment reviewCount" : "";
      return [illegal(move, `${arrow(move)}${more}`)];
    }
    if (move !== first) return [illegal(move, `${arrow(move)}, and another story was submitted already`)];
    if (mode === "implement") return isRewritten(move) ? [rewritten(story.id)] : [];
    if (story.reviewFeedback.trim() === "") return [];
    return [illegal(move, "reviewFeedback is still there, and must be cleared with needs_review")];
  });
}

/** `passes false → true`: the change that matters most comes first. */
function arrow({ story, old, changed }: Move): string {
  return changed.map((field) => `${field} ${old[field]} → ${story[field]}`).join(", ");
}

/** What a review may do: one story that waits for it, approved or sent back. */
function reviewMoves(
  moves: Move[],
  rules: RuleSet,
  illegal: (move: Move, what: string) => Finding,
): Finding[] {
  const subject = moves.find(({ old }) => old.reviewStatus === "needs_review") ?? moves[0];
  if (subject === undefined) return notReviewed(rules.before);
  return moves.flatMap((move) => {
    const alone = `a review may only modify one story, and this one is of ${subject.story.id}`;
    const what = move === subject ? reviewMistake(move, rules) : `${arrow(move)}; ${alone}`;
    return what === undefined ? [] : [illegal(move, what)];
  });
}

/** Nothing can be put back: the review is still to be made. */
function notReviewed(before: Snapshot): Finding[] {
  const waiting = [...before].find(([, { reviewStatus }]) => reviewStatus === "needs_review");
  if (waiting === undefined) return [];
  const [id, { reviewCount }] = waiting;
  const what = `nothing was changed, and the review must increment reviewCount (${reviewCount} → ${reviewCount + 1}) and either approve the story or request changes`;
  return [{ check: 2.5, story: id, message: ILLEGAL.review(id, what) }];
}

function reviewMistake(move: Move, { reviewCap, failing = [] }: RuleSet): string | undefined {
  const { story, old } = move;
  const { passes, reviewStatus, reviewCount, reviewFeedback } = story;
  if (old.reviewStatus !== "needs_review")
    return `${arrow(move)}; only a story with needs_review can be reviewed`;
  if (reviewCount !== old.reviewCount + 1)
    return `reviewCount ${old.reviewCount} → ${reviewCount}; a review must increment reviewCount by 1`;
  if (reviewStatus === "approved" && passes) {
    if (failing.length > 0) return `it cannot be approved while a verify command fails (${failing[0]})`;
    if (reviewCount >= reviewCap || !reviewFeedback.trimStart().startsWith(AT_CAP)) return undefined;
    return `${AT_CAP} at review ${reviewCount}, and the review cap is ${reviewCap}; request changes where something is wrong`;
  }
  if (reviewStatus !== "changes_requested" || passes)
    return `${arrow(move)}; a review sets reviewStatus "approved" and passes=true, or reviewStatus "changes_requested"`;
  if (reviewFeedback.trim() === "")
    return "reviewStatus changes_requested with empty reviewFeedback; feedback required";
  if (reviewCount < reviewCap || failing.length > 0) return undefined;
  return `reviewStatus changes_requested at the review cap (${reviewCap}); approve it and write what is left to reviewFeedback after ${AT_CAP}`;
}
