import type { Finding } from "./finding.js";
import type { Before, Snapshot } from "./snapshot.js";
import { AT_CAP, type Mode, type ReviewRules, type Story, type TaskList } from "./tasks.js";

export interface Transition extends ReviewRules {
  /** null: nobody's turn, so that nothing may change. */
  mode: Mode | null;
  before: Snapshot;
  /** Verify commands that failed when they were last run. */
  failing?: string[];
}

/** Check 2.5: whether the review fields changed only as this kind of iteration may change them. */
export function transitionFindings({ userStories }: TaskList, transition: Transition): Finding[] {
  const known = userStories.filter(({ id }) => transition.before.has(id));
  const moves = known.map((story) => moveOf(story, transition.before.get(story.id) as Before)).filter(isMove);
  const added = userStories.filter(({ id }) => !transition.before.has(id));
  return [...added.flatMap(notFresh), ...judge(moves, transition), ...rewritten(known, moves, transition)];
}

type Field = "passes" | "reviewStatus" | "reviewCount";
const FIELDS: Field[] = ["passes", "reviewStatus", "reviewCount"];

/** A story whose review fields changed. */
interface Move {
  story: Story;
  old: Before;
  changed: Field[];
}

function moveOf(story: Story, old: Before): Move {
  return { story, old, changed: FIELDS.filter((field) => story[field] !== old[field]) };
}

function isMove({ changed }: Move): boolean {
  return changed.length > 0;
}

function judge(moves: Move[], transition: Transition): Finding[] {
  switch (transition.mode) {
    case null:
      return moves.map((move) =>
        told(
          move,
          `Review fields may only be changed by the agent of an iteration. Story ${move.story.id} was changed between two iterations: ${arrow(move)}.`,
        ),
      );
    case "implement":
      return moves.flatMap((move, index) => implemented(move, isFirstSubmission(moves, index)));
    case "review":
      return reviewed(moves, transition);
    case "review-fix":
      return moves.flatMap((move, index) => fixed(move, index === 0));
  }
}

function implemented(move: Move, isFirst: boolean): Finding[] {
  if (isSubmission(move, null)) {
    return isFirst
      ? []
      : [
          told(
            move,
            `Implement iterations work on one story. Story ${move.story.id} had illegal transition: ${arrow(move)}. Another story was submitted for review already.`,
          ),
        ];
  }
  const more = move.changed.includes("reviewCount")
    ? " Implement iterations cannot increment reviewCount."
    : "";
  return [
    told(
      move,
      `Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story ${move.story.id} had illegal transition: ${arrow(move)}.${more}`,
    ),
  ];
}

function isFirstSubmission(moves: Move[], index: number): boolean {
  return moves.findIndex((move) => isSubmission(move, null)) === index;
}

/** The story goes to a review, and nothing else of it changes. */
function isSubmission({ story, old, changed }: Move, from: Before["reviewStatus"]): boolean {
  return changed.length === 1 && old.reviewStatus === from && story.reviewStatus === "needs_review";
}

function reviewed(moves: Move[], transition: Transition): Finding[] {
  const [first, ...others] = moves;
  if (first === undefined) return notReviewed(transition);
  const subject = moves.find(({ old }) => old.reviewStatus === "needs_review") ?? first;
  const rest = [first, ...others].filter((move) => move !== subject);
  const details = mistakeOf(subject, transition);
  return [
    ...(details === undefined ? [] : [illegalReview(subject, details)]),
    ...rest.map((move) =>
      illegalReview(
        move,
        `${arrow(move)}; a review may only modify one story, and this one is of ${subject.story.id}`,
      ),
    ),
  ];
}

/** Nothing can be put back: the review is still to be made. */
function notReviewed({ before }: Transition): Finding[] {
  const waiting = [...before].find(([, { reviewStatus }]) => reviewStatus === "needs_review");
  if (waiting === undefined) return [];
  const [id, { reviewCount }] = waiting;
  return [
    {
      check: 2.5,
      story: id,
      message: `Review iteration made illegal transition on story ${id}: nothing was changed, and the review must increment reviewCount (${reviewCount} → ${reviewCount + 1}) and either approve the story or request changes.`,
    },
  ];
}

function mistakeOf(move: Move, { reviewCap, failing = [] }: Transition): string | undefined {
  const { story, old } = move;
  const { passes, reviewStatus, reviewCount, reviewFeedback } = story;
  if (old.reviewStatus !== "needs_review")
    return `${arrow(move)}; only a story with needs_review can be reviewed`;
  if (reviewCount !== old.reviewCount + 1)
    return `reviewCount ${old.reviewCount} → ${reviewCount}; a review must increment reviewCount by 1`;
  if (reviewStatus === "approved" && passes) {
    return failing.length === 0
      ? undefined
      : `it cannot be approved while a verify command fails (${failing[0]})`;
  }
  if (reviewStatus !== "changes_requested" || passes)
    return `${arrow(move)}; a review sets reviewStatus "approved" and passes=true, or reviewStatus "changes_requested"`;
  if (reviewFeedback.trim() === "")
    return "reviewStatus changes_requested with empty reviewFeedback; feedback required";
  if (reviewCount < reviewCap || failing.length > 0) return undefined;
  return `reviewStatus changes_requested at the review cap (${reviewCap}); approve it and write what is left to reviewFeedback after ${AT_CAP}`;
}

function illegalReview(move: Move, details: string): Finding {
  return told(move, `Review iteration made illegal transition on story ${move.story.id}: ${details}.`);
}

function fixed(move: Move, isFirst: boolean): Finding[] {
  const { story } = move;
  const isLegal = isSubmission(move, "changes_requested");
  if (isLegal && isFirst && story.reviewFeedback.trim() === "") return [];
  const what = !isLegal
    ? arrow(move)
    : isFirst
      ? "reviewFeedback is still there, and must be cleared with needs_review"
      : `${arrow(move)}, and another story was submitted already`;
  return [
    told(
      move,
      `Review-fix iterations cannot approve stories. Story ${story.id} must go back to needs_review for re-review. Illegal transition: ${what}.`,
    ),
  ];
}

/** Feedback is the review's word: nobody else may change it. */
function rewritten(known: Story[], moves: Move[], { before }: Transition): Finding[] {
  const moved = new Set(moves.map(({ story }) => story.id));
  return known.flatMap(({ id, reviewFeedback }) => {
    const { reviewStatus = null, reviewFeedback: was = reviewFeedback } = before.get(id) ?? {};
    if (reviewStatus === null || moved.has(id) || was === reviewFeedback) return [];
    return [
      {
        check: 2.5 as const,
        story: id,
        field: "reviewFeedback",
        message: `Story ${id}: reviewFeedback was changed without a review.`,
      },
    ];
  });
}

function notFresh({ id, passes, reviewStatus, reviewCount }: Story): Finding[] {
  if (!passes && reviewStatus === null && reviewCount === 0) return [];
  return [
    {
      check: 2.5,
      story: id,
      field: "reviewStatus",
      message: `Story ${id} is new, and new stories must start incomplete: passes=false, reviewStatus=null, reviewCount=0.`,
    },
  ];
}

/** `passes false → true`: the change that matters most. */
function arrow({ story, old, changed }: Move): string {
  return changed.map((field) => `${field} ${old[field]} → ${story[field]}`).join(", ");
}

function told({ story, changed }: Move, message: string): Finding {
  return { check: 2.5, story: story.id, field: changed[0] ?? "reviewStatus", message };
}
