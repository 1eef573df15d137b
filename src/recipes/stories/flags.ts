import { RalphError } from "../../errors.js";
import { saysSomething, wholeNumber } from "../../settings/limits.js";
import type { Settings } from "../../settings/schema.js";
import { DEFAULT_REVIEW_CAP, type ReviewRules } from "./state.js";

export interface ReviewFlags {
  skipReview?: boolean;
  reviewCap?: string;
  reviewerAgent?: string;
}

/** How stories are reviewed, by the flags, else by the settings. A reviewer on the command line wants reviews. */
export function reviewRules(
  { skipReview, reviewCap, reviewerAgent }: ReviewFlags,
  { review = {} }: Pick<Settings, "review">,
): { rules: ReviewRules; reviewer: string | undefined } {
  if (skipReview && reviewerAgent !== undefined)
    throw new RalphError("--skip-review and --reviewer-agent exclude each other", { code: "flag_invalid" });
  const given = reviewerAgent === undefined ? undefined : saysSomething("--reviewer-agent", reviewerAgent);
  const cap = reviewCap === undefined ? undefined : wholeNumber("--review-cap", reviewCap, 1);
  const rules = {
    skipReview: skipReview ?? (given === undefined && review.skip === true),
    reviewCap: cap ?? review.cap ?? DEFAULT_REVIEW_CAP,
  };
  return { rules, reviewer: rules.skipReview ? undefined : (given ?? review.agent) };
}
