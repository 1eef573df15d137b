import { ending } from "../../verify/excerpt.js";
import { failureText } from "../../verify/failure.js";
import type { StoriesSpec } from "./run.js";
import { AT_CAP, type Mode, openStories } from "./state.js";
import type { Story, TaskList } from "./tasks.js";
import type { LastTime } from "./verdict.js";

export interface PromptParts extends LastTime {
  /** The user's prompt.md. */
  template: string;
  iteration: number;
  maxIterations: number;
  mode: Mode;
  story: Story | undefined;
  before: TaskList;
  spec: StoriesSpec;
}

const ERROR_CHARS = 2000;

/** The user's prompt, and below it what ralph knows of this iteration. */
export function storiesPrompt(parts: PromptParts): string {
  const { told, failures, error } = parts;
  const sections: [title: string, text: string][] = [
    ["This iteration", thisIteration(parts)],
    ["What the last iteration did wrong", told.map((text) => `- ${text}`).join("\n")],
    ["Verify commands that fail", failures.map(failureText).join("\n\n")],
    ["Error of the last iteration", ending(error ?? "", ERROR_CHARS).trim()],
  ];
  const known = sections.filter(([, text]) => text !== "").map(([title, text]) => `## ${title}\n\n${text}`);
  return [withValues(parts).trimEnd(), "---", ...known].join("\n\n");
}

/**
 * Fills in `$RALPH_ITERATION` and its like, with or without braces; other names are left alone. Parts of the template
 * between `<!-- reviews -->` and `<!-- /reviews -->` are for runs with reviews, those between `<!-- no reviews -->` and
 * `<!-- /no reviews -->` for runs without.
 */
function withValues({ template, iteration, maxIterations, mode, story, spec }: PromptParts): string {
  const values: Record<string, string> = {
    RALPH_ITERATION: String(iteration),
    RALPH_MAX_ITERATIONS: String(maxIterations),
    RALPH_MODE: mode,
    RALPH_STORY: oneLine(story?.id ?? ""),
    RALPH_REVIEW_CAP: String(spec.reviewCap),
    RALPH_DIR: spec.dir,
  };
  const dropped = spec.skipReview ? "reviews" : "no reviews";
  return template
    .replace(new RegExp(`<!-- ${dropped} -->.*?<!-- /${dropped} -->\\n?`, "gs"), "")
    .replace(/<!-- \/?(?:no )?reviews -->\n?/g, "")
    .replace(/\$(?:(RALPH_[A-Z_]+)|\{(RALPH_[A-Z_]+)\})/g, (whole, bare?: string, braced?: string) => {
      return values[bare ?? braced ?? ""] ?? whole;
    });
}

function thisIteration({
  iteration,
  maxIterations,
  mode,
  before,
  story,
  spec,
  failures,
}: PromptParts): string {
  const what = story === undefined ? "" : ` Story: ${oneLine(story.id)} (${oneLine(story.title)}).`;
  return [
    `Iteration ${iteration} of ${maxIterations}. Mode: ${mode}.${what}`,
    ...(spec.skipReview ? [NO_REVIEWS] : []),
    ...(openStories(before, spec).length === 0 ? [ALL_DONE] : []),
    ...(mode === "review" && story !== undefined ? [reviewLine(story, spec, failures.length > 0)] : []),
  ].join("\n");
}

/** An agent wrote it: it must not look like words of ralph. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim();
}

const ALL_DONE = "Every story is done. Commit what is left, change nothing else, and end.";

const NO_REVIEWS = `Reviews are switched off. This holds wherever the text above speaks of reviews. Implement one story; when its verify commands pass, write notes and set passes to true. Leave reviewStatus, reviewCount and reviewFeedback as they are. When every story has passes set to true, end your final message with <promise>COMPLETE</promise>.`;

function reviewLine({ reviewCount }: Story, { reviewCap }: StoriesSpec, isFailing: boolean): string {
  const number = reviewCount + 1;
  const which = `This is review ${number} of this story; the review cap is ${reviewCap}. Set reviewCount to ${number}.`;
  if (isFailing)
    return `${which} It cannot be approved while a verify command fails: request changes, and say what fails.`;
  if (number < reviewCap) return which;
  return `${which} The cap is reached: changes cannot be requested any more. Approve the story, and write what is left to reviewFeedback after ${AT_CAP}.`;
}
