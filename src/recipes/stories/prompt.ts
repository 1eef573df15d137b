import { ending } from "../../verify/excerpt.js";
import { failureText } from "../../verify/failure.js";
import type { LastTime } from "./memory.js";
import type { StoriesSpec } from "./stories.js";
import { AT_CAP, isDone, type Mode, type Story, type TaskList } from "./tasks.js";

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
  return [
    withValues(forReviews(parts.template, parts.spec), parts).trimEnd(),
    "---",
    section("This iteration", thisIteration(parts)),
    section("What the last iteration did wrong", told.map((text) => `- ${text}`).join("\n")),
    section("Verify commands that fail", failures.map(failureText).join("\n\n")),
    section("Error of the last iteration", ending(error ?? "", ERROR_CHARS).trim()),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/**
 * Parts of the template between `<!-- reviews -->` and `<!-- /reviews -->` are for runs with reviews, those between
 * `<!-- no reviews -->` and `<!-- /no reviews -->` for runs without.
 */
function forReviews(template: string, { skipReview }: StoriesSpec): string {
  const dropped = skipReview ? "reviews" : "no reviews";
  const part = new RegExp(`<!-- ${dropped} -->.*?<!-- /${dropped} -->\\n?`, "gs");
  return template.replace(part, "").replace(/<!-- \/?(?:no )?reviews -->\n?/g, "");
}

/** `$RALPH_ITERATION` and its like, with or without braces; other names are left alone. */
function withValues(template: string, { iteration, maxIterations, mode, story, spec }: PromptParts): string {
  const values = new Map([
    ["RALPH_ITERATION", String(iteration)],
    ["RALPH_MAX_ITERATIONS", String(maxIterations)],
    ["RALPH_MODE", mode],
    ["RALPH_STORY", oneLine(story?.id ?? "")],
    ["RALPH_REVIEW_CAP", String(spec.reviewCap)],
    ["RALPH_DIR", spec.dir],
  ]);
  return template.replace(
    /\$(?:(RALPH_[A-Z_]+)|\{(RALPH_[A-Z_]+)\})/g,
    (whole, bare?: string, braced?: string) => values.get(bare ?? braced ?? "") ?? whole,
  );
}

function section(title: string, text: string): string {
  return text === "" ? "" : `## ${title}\n\n${text}`;
}

function thisIteration(parts: PromptParts): string {
  const { iteration, maxIterations, mode, before, story, spec } = parts;
  const what = story === undefined ? "" : ` Story: ${oneLine(story.id)} (${oneLine(story.title)}).`;
  return [
    `Iteration ${iteration} of ${maxIterations}. Mode: ${mode}.${what}`,
    ...(spec.skipReview ? [NO_REVIEWS] : []),
    ...(before.userStories.every((one) => isDone(one, spec)) ? [ALL_DONE] : []),
    ...(mode === "review" && story !== undefined ? reviewLines(parts, story) : []),
  ].join("\n");
}

/** An agent wrote it: it must not look like words of ralph. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim();
}

const ALL_DONE = "Every story is done. Commit what is left, change nothing else, and end.";

const NO_REVIEWS = `Reviews are switched off. This holds wherever the text above speaks of reviews. Implement one story; when its verify commands pass, write notes and set passes to true. Leave reviewStatus, reviewCount and reviewFeedback as they are. When every story has passes set to true, end your final message with <promise>COMPLETE</promise>.`;

function reviewLines({ spec, failures }: PromptParts, { reviewCount }: Story): string[] {
  const number = reviewCount + 1;
  const which = `This is review ${number} of this story; the review cap is ${spec.reviewCap}. Set reviewCount to ${number}.`;
  if (failures.length > 0) {
    return [
      `${which} It cannot be approved while a verify command fails: request changes, and say what fails.`,
    ];
  }
  if (number < spec.reviewCap) return [which];
  return [
    `${which} The cap is reached: changes cannot be requested any more. Approve the story, and write what is left to reviewFeedback after ${AT_CAP}.`,
  ];
}
