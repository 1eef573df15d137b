/** The stories of a project and where each of them stands: `ralph/tasks.json`. */
export interface TaskList {
  project: string;
  branchName: string;
  description: string;
  verifyCommands?: string[];
  userStories: Story[];
}

export interface Story {
  id: string;
  title: string;
  description?: string;
  acceptanceCriteria: string[];
  priority: number;
  /** Set by a review that approves, and by nothing else. */
  passes: boolean;
  reviewStatus: ReviewStatus | null;
  /** Reviews so far. */
  reviewCount: number;
  reviewFeedback: string;
  notes?: string;
  /** Stories that have to be done first. */
  dependsOn?: string[];
}

export const REVIEW_STATUSES = ["needs_review", "changes_requested", "approved"] as const;
type ReviewStatus = (typeof REVIEW_STATUSES)[number];

export type Mode = "implement" | "review" | "review-fix";

export interface ReviewRules {
  /** Implement iterations pass stories themselves. */
  skipReview: boolean;
  /** Reviews per story; the last of them approves. */
  reviewCap: number;
}

export const DEFAULT_REVIEW_CAP = 5;

/** Begins the feedback of a story that was approved only because of the cap. */
export const AT_CAP = "[AUTO-APPROVED AT CAP]";

/** What comes next: feedback is addressed before anything is reviewed, and that before anything is begun. */
export function modeOf({ userStories }: TaskList, { skipReview }: Pick<ReviewRules, "skipReview">): Mode {
  if (skipReview) return "implement";
  const is = (status: ReviewStatus): boolean => userStories.some((story) => story.reviewStatus === status);
  if (is("changes_requested")) return "review-fix";
  return is("needs_review") ? "review" : "implement";
}

/** Whether a story needs nothing more. */
export function isDone(story: Story, { skipReview }: Pick<ReviewRules, "skipReview">): boolean {
  return story.passes && (skipReview || story.reviewStatus === "approved");
}

const WAITING: Record<Mode, ReviewStatus | null> = {
  implement: null,
  review: "needs_review",
  "review-fix": "changes_requested",
};

/** The story that an iteration of this mode should be about: the first by priority that waits for nothing else. */
export function nextStory(
  { userStories }: TaskList,
  mode: Mode,
  rules: Pick<ReviewRules, "skipReview">,
): Story | undefined {
  const done = new Set(userStories.filter((story) => isDone(story, rules)).map(({ id }) => id));
  const waits = (story: Story): boolean =>
    rules.skipReview ? !story.passes : !done.has(story.id) && story.reviewStatus === WAITING[mode];
  const isReady = ({ dependsOn = [] }: Story): boolean =>
    mode !== "implement" || dependsOn.every((id) => done.has(id));
  const [first] = userStories
    .filter((story) => waits(story) && isReady(story))
    .sort((a, b) => a.priority - b.priority);
  return first;
}
