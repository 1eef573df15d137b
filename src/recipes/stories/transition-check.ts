import type { Finding } from "./finding.js";
import { arrow, isMove, type Move, moveOf, type Transition, told } from "./moves.js";
import { reviewed } from "./review-moves.js";
import type { Before } from "./snapshot.js";
import type { Story, TaskList } from "./tasks.js";

/** Check 2.5: whether the review fields changed only as this kind of iteration may change them. */
export function transitionFindings({ userStories }: TaskList, transition: Transition): Finding[] {
  const known = userStories.filter(({ id }) => transition.before.has(id));
  const moves = known.map((story) => moveOf(story, transition.before.get(story.id) as Before)).filter(isMove);
  const added = userStories.filter(({ id }) => !transition.before.has(id));
  return [...added.flatMap(notFresh), ...judge(moves, transition), ...rewritten(known, moves, transition)];
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
    if (isPlanted(move)) return [told(move, planted(move.story.id))];
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

function isPlanted({ story, old }: Move): boolean {
  return story.reviewFeedback !== (old.reviewFeedback ?? story.reviewFeedback);
}

function planted(id: string): string {
  return `Story ${id}: reviewFeedback was changed without a review.`;
}

function isFirstSubmission(moves: Move[], index: number): boolean {
  return moves.findIndex((move) => isSubmission(move, null)) === index;
}

/** The story goes to a review, and nothing else of it changes. */
function isSubmission({ story, old, changed }: Move, from: Before["reviewStatus"]): boolean {
  return changed.length === 1 && old.reviewStatus === from && story.reviewStatus === "needs_review";
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
    const { reviewFeedback: was = reviewFeedback } = before.get(id) ?? {};
    if (moved.has(id) || was === reviewFeedback) return [];
    return [
      {
        check: 2.5 as const,
        story: id,
        field: "reviewFeedback",
        message: planted(id),
      },
    ];
  });
}

function notFresh({ id, passes, reviewStatus, reviewCount, reviewFeedback }: Story): Finding[] {
  if (!passes && reviewStatus === null && reviewCount === 0 && reviewFeedback.trim() === "") return [];
  return [
    {
      check: 2.5,
      story: id,
      field: "reviewStatus",
      message: `Story ${id} is new, and new stories must start incomplete: passes=false, reviewStatus=null, reviewCount=0, no reviewFeedback.`,
    },
  ];
}
