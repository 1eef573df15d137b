import { createExcerpt, ending, readable } from "../verify/excerpt.js";
import { likeness } from "../verify/failure.js";
import {
  type Comment,
  type Forge,
  type ForgeCheck,
  fullName,
  type LineComment,
  type PullRequest,
  type Review,
} from "./forge.js";
import { quoted, WHOSE, who } from "./issue-text.js";
import { isOwn } from "./markers.js";

/** Something about a pull request that wants work. */
export interface Feedback {
  /** The same thing has the same id whenever it is looked at. */
  id: string;
  /** In a few words. */
  what: string;
  /** For the agent: quoted words of others. */
  text: string;
  /** The line comment to answer; null: it is answered in the conversation. */
  thread: number | null;
  /** The same word for the same failure; null: people want it. */
  failure: string | null;
}

/** What people want, unless `more` says otherwise. */
const feedback = (id: string, what: string, text: string, more: Partial<Feedback> = {}): Feedback => ({
  ...{ id, what, text, thread: null, failure: null },
  ...more,
});

/** All that is on a pull request. */
export interface PullState {
  pull: PullRequest;
  /** undefined: the branch is gone that it is to be merged into. */
  base: string | undefined;
  checks: ForgeCheck[];
  reviews: Review[];
  lineComments: LineComment[];
  comments: Comment[];
}

export async function look(forge: Forge, number: number): Promise<PullState> {
  const pull = await forge.pulls.get(number);
  if (!pull.isOpen) return { pull, base: "", checks: [], reviews: [], lineComments: [], comments: [] };
  const [base, checks, reviews, lineComments, comments] = await Promise.all([
    forge.branch(pull.base),
    forge.checks.of(pull.head.commit),
    forge.reviews.list(number),
    forge.reviews.comments(number),
    forge.issues.comments(number),
  ]);
  return { pull, base, checks, reviews, lineComments, comments };
}

const STOP = /^\s*\/ralph stop\s*$/m;

/** The words of somebody with write access that end the following; undefined: nobody said them. */
export function stopWords(seen: PullState, handled: string[]): { id: string; by: string } | undefined {
  const all = [...seen.comments, ...seen.lineComments, ...seen.reviews];
  const said = all.filter((one) => !isOwn(one) && one.author.mayWrite);
  const found = said.find(({ id, body }) => STOP.test(body) && !handled.includes(stopId(id)));
  return found && { id: stopId(found.id), by: found.author.login };
}

const stopId = (comment: number): string => `stop:${comment}`;

/** What people with write access want: reviews that request changes, and line comments. */
export function requests({ reviews, lineComments }: PullState, handled: string[]): Feedback[] {
  const isAsked = (one: Review | LineComment): boolean =>
    !(isOwn(one) || STOP.test(one.body)) && one.author.mayWrite;
  const isApproved = ({ author }: Review, at: number): boolean =>
    reviews.slice(at + 1).some((later) => later.isApproval && later.author.login === author.login);
  const asked = reviews
    .filter((one, at) => one.wantsChanges && one.body.trim() !== "" && !isApproved(one, at) && isAsked(one))
    .map(({ id, author, body }) => {
      const text = quoted(`A review that requests changes, by ${who(author)}`, body);
      return feedback(`review:${id}`, `a review by ${author.login}`, text);
    });
  const onLines = lineComments.filter(isAsked).map((comment) => {
    const { id, author, path, line, inReplyTo } = comment;
    const what = `a comment by ${author.login} on ${line === null ? path : `${path}:${line}`}`;
    return feedback(`line:${id}`, what, lineText(comment, lineComments), { thread: inReplyTo ?? id });
  });
  return [...asked, ...onLines].filter(({ id }) => !handled.includes(id));
}

/** The comment, the lines that it is about, and what was said before in its thread. */
function lineText(comment: LineComment, all: LineComment[]): string {
  const { author, path, line, hunk, body, inReplyTo } = comment;
  const before = all.filter(
    (one) =>
      one.id < comment.id && inReplyTo !== null && (one.id === inReplyTo || one.inReplyTo === inReplyTo),
  );
  return [
    quoted(`A comment on ${path}, line ${line ?? "unknown"}, by ${who(author)}`, body),
    ...(hunk === "" ? [] : [quoted("The lines that it is about, from the diff", ending(hunk, 1000))]),
    ...before.map((one) =>
      quoted(`Said before in this thread, by ${isOwn(one) ? "you" : who(one.author)}`, one.body),
    ),
  ].join("\n\n");
}

const LOG_CHARS = 6000;

/** Checks that failed, once none of them runs any more. What they print is a text that anybody may have written. */
export async function failedChecks(
  forge: Forge,
  { pull, checks }: PullState,
  handled: string[],
  redact: (text: string) => string,
): Promise<Feedback[]> {
  if (checks.some(({ status }) => status === "running")) return [];
  const open = checks.filter(
    ({ status, name }) => status === "failed" && !handled.includes(checkId(pull, name)),
  );
  return Promise.all(
    open.map(async (check) => {
      const { name } = check;
      const log = excerptOf(await forge.checks.log(check), redact);
      const text = quoted(`The check "${name}" failed on ${fullName(forge.repo)}. Its log, in short`, log);
      const failure = `${encodeURIComponent(name)}:${await likeness([log])}`;
      return feedback(checkId(pull, name), `check ${name} failed`, text, { failure });
    }),
  );
}

const checkId = ({ head }: PullRequest, name: string): string => `check:${head.commit}:${name}`;

function excerptOf(log: string, redact: (text: string) => string): string {
  const excerpt = createExcerpt(LOG_CHARS, redact);
  for (const line of log.split("\n")) excerpt.add(line);
  const whole = readable(redact(log)).trim();
  return excerpt.result(ending(whole, LOG_CHARS * 2), whole.length <= LOG_CHARS);
}

/** The branch cannot be merged as it is; `commit` is what it has to take in. */
export function conflict(name: string, commit: string): Feedback {
  const text = `The branch conflicts with ${name}. Run "git merge ${commit}", resolve the conflicts so that what both sides meant holds, and commit the merge.`;
  const id = `conflict:${commit}`;
  return feedback(id, `a conflict with ${name}`, text, { failure: id });
}

/** The task of a round. */
export function roundTask(pull: PullRequest, all: Feedback[], asked: string): string {
  return [
    `Settle what came back about pull request #${pull.number}.`,
    `The work on this branch (${pull.head.branch}) is that pull request.`,
    WHOSE,
    ...all.map(({ text }) => text),
    "Add new commits: no rebase, no amend, no reset, and no push. Do not weaken a check. If you do not do what somebody asks, say why in your final message: it is given as the answer.",
    "What the work was about at first:",
    asked,
  ].join("\n\n");
}
