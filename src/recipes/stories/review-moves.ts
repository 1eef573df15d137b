import type { Finding } from "./finding.js";
import { arrow, type Move, type Transition, told } from "./moves.js";
import { AT_CAP, type Story } from "./tasks.js";

/** What a review may do: one story that waits for it, approved or sent back. */
export function reviewed(moves: Move[], transition: Transition): Finding[] {
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
  if (reviewStatus === "approved" && passes) return mistakeOfApproval(story, reviewCap, failing);
  if (reviewStatus !== "changes_requested" || passes)
    return `${arrow(move)}; a review sets reviewStatus "approved" and passes=true, or reviewStatus "changes_requested"`;
  if (reviewFeedback.trim() === "")
    return "reviewStatus changes_requested with empty reviewFeedback; feedback required";
  if (reviewCount < reviewCap || failing.length > 0) return undefined;
  return `reviewStatus changes_requested at the review cap (${reviewCap}); approve it and write what is left to reviewFeedback after ${AT_CAP}`;
}

function mistakeOfApproval(
  { reviewCount, reviewFeedback }: Story,
  cap: number,
  failing: string[],
): string | undefined {
  if (failing.length > 0) return `it cannot be approved while a verify command fails (${failing[0]})`;
  if (reviewCount >= cap || !reviewFeedback.trimStart().startsWith(AT_CAP)) return undefined;
  return `${AT_CAP} at review ${reviewCount}, and the review cap is ${cap}; request changes where something is wrong`;
}

function illegalReview(move: Move, details: string): Finding {
  return told(move, `Review iteration made illegal transition on story ${move.story.id}: ${details}.`);
}
