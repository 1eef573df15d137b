import { z } from "zod";
import type { Json } from "../../events.js";
import { ending } from "../../verify/excerpt.js";
import { failuresIn, failureText } from "../../verify/failure.js";
import { checkList } from "../checks.js";
import { howToAsk } from "../prompt.js";
import { checksFor, type StoriesSpec } from "./run.js";
import { AT_CAP, type Mode, openStories } from "./state.js";
import type { Story, TaskList } from "./tasks.js";

const Memory = z.object({
  /** What the agent did that it may not do, or left undone. */
  told: z.array(z.string()).catch([]),
  /** Iterations in a row in which it broke the rules. */
  violations: z.number().catch(0),
  /** Why the agent failed, if it did. */
  error: z.string().nullable().catch(null),
  /** Checks that failed when they were last run. */
  failures: z.custom<Json>().optional().transform(failuresIn),
});

export type LastTime = ReturnType<typeof lastTime>;

export function lastTime(memory: Json | undefined) {
  const found = Memory.safeParse(memory).data ?? Memory.parse({});
  return { ...found, failing: found.failures.map(({ command }) => command), isKnown: memory !== undefined };
}

interface PromptParts extends LastTime {
  /** The user's prompt.md. */
  template: string;
  iteration: number;
  maxIterations: number;
  mode: Mode;
  story: Story | undefined;
  before: TaskList;
  spec: StoriesSpec;
  /** Commands of tasks.json that count. */
  commands: string[];
}

const ERROR_CHARS = 2000;
const ALL_DONE = "Every story is done. Commit what is left, change nothing else, and end.";
const NO_REVIEWS = `Reviews are off. Ignore what the text above says about reviews. Implement one story; when its checks pass, write notes and set passes to true. Leave reviewStatus, reviewCount and reviewFeedback as they are. When every story has passes set to true, end your final message with <promise>COMPLETE</promise>.`;

/** For a loop that has one story. */
function onlyOne(id: string, { dir }: StoriesSpec): string {
  return `Other agents work on the other stories at the same time, each in a checkout of its own. Work on ${id} alone: in ${dir}/tasks.json change the entry of ${id} and no other, add no story and do not split it, and only append to ${dir}/progress.txt. ralph merges both files, and keeps nothing else of them.`;
}

const RUN_BY_RALPH = "When you have finished, ralph also runs these checks. All of them must pass:";

/** Those that tasks.json does not name. */
function otherChecks({ spec, before, commands }: PromptParts): string {
  const known = before.verifyCommands ?? [];
  const others = checksFor(spec, commands).filter(({ command }) => !known.includes(command));
  return others.length === 0 ? "" : `${RUN_BY_RALPH}\n${checkList(others)}`;
}

/** The user's prompt, and below it what ralph knows of this iteration. */
export function storiesPrompt(parts: PromptParts): string {
  const { iteration, maxIterations, mode, before, story, spec, told, failures, error } = parts;
  const what = story === undefined ? "" : ` Story: ${oneLine(story.id)} (${oneLine(story.title)}).`;
  const thisIteration = [
    `Iteration ${iteration} of ${maxIterations}. Mode: ${mode}.${what}`,
    ...(spec.only === undefined ? [] : [onlyOne(oneLine(spec.only), spec)]),
    ...(spec.skipReview ? [NO_REVIEWS] : []),
    ...(openStories(before, spec).length === 0 ? [ALL_DONE] : []),
    ...(mode === "review" && story !== undefined ? [reviewLine(story, spec, failures.length > 0)] : []),
    ...howToAsk(parts.template),
  ].join("\n");
  const sections: [title: string, text: string][] = [
    ["This iteration", thisIteration],
    ["Checks", otherChecks(parts)],
    ["What the last iteration got wrong", told.map((text) => `- ${text}`).join("\n")],
    ["Failed checks", failures.map(failureText).join("\n\n")],
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

/** An agent wrote it: it must not look like words of ralph. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim();
}

function reviewLine({ reviewCount }: Story, { reviewCap }: StoriesSpec, isFailing: boolean): string {
  const number = reviewCount + 1;
  const which = `This is review ${number} of this story; the review cap is ${reviewCap}. Set reviewCount to ${number}.`;
  if (isFailing)
    return `${which} You cannot approve it while a check fails: request changes, and say what fails.`;
  if (number < reviewCap) return which;
  return `${which} The cap is reached, so you can no longer request changes. Approve the story, and write what is left to reviewFeedback after ${AT_CAP}.`;
}
