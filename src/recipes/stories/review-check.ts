import type { Finding } from "./finding.js";
import type { ReviewRules, Story, TaskList } from "./tasks.js";

/** Check 2: what must hold of the reviews at any time. */
export function reviewFindings({ userStories }: TaskList, { reviewCap }: ReviewRules): Finding[] {
  return userStories.flatMap((story) => [
    ...notApproved(story),
    ...notPassed(story),
    ...noFeedback(story),
    ...tooManyReviews(story, reviewCap),
  ]);
}

function notApproved({ id, passes, reviewStatus }: Story): Finding[] {
  if (!passes || reviewStatus === "approved") return [];
  return told(
    id,
    "passes",
    `Story ${id} has passes=true but reviewStatus is '${reviewStatus}', not 'approved'. Only review iterations may approve stories. Set passes back to false or complete the review cycle.`,
  );
}

function notPassed({ id, passes, reviewStatus }: Story): Finding[] {
  if (passes || reviewStatus !== "approved") return [];
  return told(
    id,
    "reviewStatus",
    `Story ${id} has reviewStatus 'approved' but passes=false: the two are out of sync. A review that approves sets both.`,
  );
}

function noFeedback({ id, reviewStatus, reviewFeedback }: Story): Finding[] {
  if (reviewStatus !== "changes_requested" || reviewFeedback.trim() !== "") return [];
  return told(
    id,
    "reviewFeedback",
    `Story ${id} has reviewStatus 'changes_requested' but its reviewFeedback is empty: feedback required. Write what needs to be fixed and where.`,
  );
}

/** One above the cap is left for a review of work whose checks failed at the cap; any review may approve. */
function tooManyReviews({ id, passes, reviewStatus, reviewCount }: Story, cap: number): Finding[] {
  if (reviewCount <= cap + 1 || (passes && reviewStatus === "approved")) return [];
  return told(
    id,
    "reviewCount",
    `Story ${id} has reviewCount ${reviewCount}, more than the review cap (${cap}) allows.`,
  );
}

function told(story: string, field: string, message: string): Finding[] {
  return [{ check: 2, story, field, message }];
}
