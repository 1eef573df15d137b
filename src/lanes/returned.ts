import { rmSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";
import type { LoopEventBody, StateChanged } from "../events.js";
import type { Answer, Recipe, Verdict, VerifyContext } from "../loop/recipe.js";
import { changesBetween, type ReviewRules } from "../recipes/stories/state.js";
import { FRESH, readTasks, type Story, treeIn } from "../recipes/stories/tasks.js";
import { writeFresh } from "../records/files.js";
import type { Lane, SentBack } from "../records/run-state.js";
import { isTree } from "../settings/merge.js";
import { isSuccess } from "../stop-reasons.js";
import { fenced } from "../verify/excerpt.js";
import { type Git, gitFolders, namesIn, SOMEBODY, someOf } from "../workspace/git.js";
import type { LandingResult } from "../workspace/landing/land.js";
import { isPartOf, type MergedFiles, mergeBase } from "../workspace/landing/merge.js";
import { removeLeftLocks } from "../workspace/left-locks.js";
import { stage } from "../workspace/stage.js";
import { unfinished } from "../workspace/start.js";
import { ownGit } from "../workspace/worktree/worktree.js";
import { filesBetween, patchBetween, type Stories, textsOf } from "./list.js";

/** How often a lane gets its work back, and how many iterations it has each time to merge what has landed. */
export const MOST_TRIES = 2;

/** Results that the agent of the lane can do something about. */
export type Returned = LandingResult & { kind: "conflict" | "red" | "lost" };

/** One line for people. */
export function whyReturned(result: Returned): string {
  if (result.kind === "conflict") return `it conflicts with what has landed, in ${someOf(result.files)}`;
  if (result.kind === "red") {
    const failed = result.checks.filter(({ passed }) => !passed).map(({ command }) => command);
    return `together with what has landed, these checks fail: ${someOf(failed)}`;
  }
  const lost = result.lines.map(({ name, file }) => `${file} (${name})`);
  return `lines that landed would be gone from ${someOf([...new Set(lost)])}${result.gone.length === 0 ? "" : `; ${someOf(result.gone)} would be gone`}`;
}

/** What the agent of the lane gets to know: both stories, both sides, and what it has to do. */
export function textFor(result: Returned, branch: string, own: Story, others: Story[]): string {
  return [
    `## Not landed: ${whyReturned(result)}`,
    `While you worked on ${own.id}, other stories landed on ${branch}. ${result.kind === "conflict" ? "ralph has started to merge that branch into yours." : "That branch is merged into yours."}`,
    WHAT_TO_DO[result.kind](result as never),
    "Nothing that landed may be lost, and nothing of this story either. When that is done, commit everything, write what you did to notes and set reviewStatus (without reviews: passes) of this story as after any other work: it gets a new review.",
    ...[...others, own].map(storyText),
    ...(result.kind === "conflict"
      ? [
          `### What has landed in these files\n\n${fenced(result.diffs.target, "diff")}`,
          `### What this story has done in them\n\n${fenced(result.diffs.tip, "diff")}`,
        ]
      : []),
  ].join("\n\n");
}

type ReturnWords = { [Kind in Returned["kind"]]: (result: Returned & { kind: Kind }) => string };

const WHAT_TO_DO: ReturnWords = {
  conflict: ({ files }) =>
    `There are conflicts in ${files.join(", ")}. Resolve each of them so that what both stories want is there. Never take one side as a whole.`,
  red: ({ checks }) => {
    const failed = checks.filter(({ passed }) => !passed);
    const said = failed.map(({ command, output, hidden }) =>
      hidden ? `${command} (ralph shows only its result)` : `${command}\n\n${fenced(output, "text")}`,
    );
    return `Each story passes by itself, but not together with the others. Make these checks pass on the merged files:\n\n${said.join("\n\n")}`;
  },
  lost: ({ lines }) => {
    const shown = lines.slice(0, MAX_LINES).map(({ name, file, line }) => `${file} (${name}): ${line}`);
    return `These lines of other stories are gone from your branch. Put them back:\n\n${fenced(shown.join("\n"), "text")}`;
  },
};

const MAX_LINES = 100;

function storyText({ id, title, acceptanceCriteria, description }: Story): string {
  const criteria = acceptanceCriteria.map((text) => `- ${text}`).join("\n");
  return [`### ${id}: ${title}`, ...(description ? [description] : []), criteria].join("\n\n");
}

/** Merges what has landed into a lane, as far as git can. What conflicts is left to the agent of the lane. */
export async function mergeIntoLane(path: string, target: string, own: MergedFiles): Promise<void> {
  const inTree = ownGit(path, undefined);
  if (!(await beginMerge(path, target, inTree))) {
    await undoCutOff(path, target, inTree);
    if (!(await beginMerge(path, target, inTree)))
      throw new RalphError(`cannot merge what has landed into ${path}`, { code: "merge_failed" });
  }
  await commitFiles(path, own, (await unfinished(path)) ? "Merge what has landed" : "Reopen the story");
}

/** Writes files of ralph's own and commits them; not where conflicts are left. */
async function commitFiles(path: string, files: MergedFiles, message: string): Promise<void> {
  const inTree = ownGit(path, undefined);
  for (const [file, text] of Object.entries(files)) writeFresh(join(path, file), text);
  await stage(
    path,
    Object.keys(files).map((file) => `:(top,literal)${file}`),
    { git: inTree },
  );
  const { stdout: unmerged } = await inTree(["ls-files", "--unmerged", "-z"]);
  if (unmerged !== "") return;
  const args = ["commit", "--quiet", "--no-verify", "--message", message];
  const asUser = await inTree(args);
  if (!asUser.ok) await inTree([...SOMEBODY, ...args]);
}

/** Whether what has landed is merged, or the merge is under way. */
async function beginMerge(path: string, target: string, inTree: Git): Promise<boolean> {
  const isBegun = async (): Promise<boolean> =>
    (await unfinished(path)) !== undefined || (await isPartOf(path, target, "HEAD"));
  if (await isBegun()) return true;
  await inTree([...SOMEBODY, "merge", "--quiet", "--no-commit", "--no-ff", target]);
  return isBegun();
}

/** All work of a lane is committed when it lands: what else is there is left of a merge that was cut off. */
async function undoCutOff(path: string, target: string, inTree: Git): Promise<void> {
  removeLeftLocks(gitFolders(path).slice(1), 0);
  await inTree(["reset", "--quiet", "--hard"]);
  const written = new Set(await filesBetween(path, "HEAD", target));
  const { stdout } = await inTree(["ls-files", "--others", "--full-name", "-z"]);
  for (const file of namesIn(stdout)) if (written.has(file)) rmSync(join(path, file), { force: true });
}

/** A lane that got its work back. */
interface ReturnedLane {
  path: string;
  /** The id of its story. */
  story: string;
  own: Stories["own"];
  rules: ReviewRules;
  text: string;
  takeOver: string;
}

/** The same recipe for a lane that got its work back; it is not done while the merge is not. */
export function untilResolved(recipe: Recipe, { returned }: Lane, lane: ReturnedLane): Recipe {
  if (returned === undefined) return recipe;
  const { path, text } = lane;
  return {
    ...recipe,
    async plan(context) {
      const plan = await recipe.plan(context);
      if (plan.prompt === null || plan.mode === "review") return plan;
      return { ...plan, prompt: `${plan.prompt}\n\n${text}` };
    },
    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      const verdict = yield* recipe.verify(answer, verify);
      if (verdict === undefined || isSuccess(verdict.stop)) return verdict;
      const tries = verify.iteration - returned.since;
      const isResolved =
        (await isPartOf(path, returned.target, "HEAD")) && (await unfinished(path)) === undefined;
      if (isResolved && verdict.passed && (await isReviewed(returned, lane))) {
        await recipe.release?.();
        yield* await keepReview(returned.tip ?? "", lane, verify.iteration);
        return { ...verdict, reason: "its changes are the same, so its review stands", stop: "completed" };
      }
      if (isResolved || tries < MOST_TRIES || verdict.stop !== undefined) return verdict;
      return {
        ...verdict,
        passed: false,
        reason: `${returned.message}, and ${tries} tries did not resolve it (${lane.takeOver})`,
        stop: "blocked",
      };
    },
  };
}

/** Whether what the lane adds to what has landed is what was reviewed. */
async function isReviewed({ target, tip }: SentBack, { path, own }: ReturnedLane): Promise<boolean> {
  if (tip === undefined) return false;
  const except = Object.values(own);
  const [before, now] = await Promise.all([
    mergeBase(path, target, tip).then((base) => patchBetween(path, [base, tip], except)),
    patchBetween(path, [target, "HEAD"], except),
  ]);
  return before === now;
}

async function keepReview(tip: string, lane: ReturnedLane, iteration: number): Promise<StateChanged[]> {
  const { path, story, own, rules } = lane;
  const [reviewed = "", text = ""] = await textsOf(path, [`${tip}:${own.tasks}`, `HEAD:${own.tasks}`]);
  const kept = reviewedAsIn(reviewed, text, story);
  await commitFiles(path, { [own.tasks]: kept }, `Keep the review of ${story}`);
  const [before, after] = [text, kept].map((list) => readTasks(list).tasks);
  return before && after ? changesBetween(before, after, rules, iteration) : [];
}

/** What a person does where no agent can. */
export function takeOver({ worktree }: Lane, branch: string, run: string, result?: Returned): string {
  const isLost = result?.kind === "lost" && result.lines.length > 0;
  const merge = `git merge ${branch}${result?.kind === "red" ? "; make these checks pass" : ""}`;
  return `take over: cd ${worktree}; ${isLost ? "put these lines back" : merge}; commit; ralph resume ${run}`;
}

/** The list of the target with one story as its lane left it: nothing else of the lane's list counts. */
export function mergedTasks(target: string, tip: string, story: string): string {
  const tasks = treeIn(target);
  const own = storiesIn(treeIn(tip)).find((one) => one["id"] === story);
  if (own === undefined) return target;
  const userStories = storiesIn(tasks).map((one) => (one["id"] === story ? own : one));
  const text = `${JSON.stringify({ ...tasks, userStories }, null, 2)}\n`;
  return readTasks(text).tasks === undefined ? target : text;
}

function storiesIn({ userStories }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(userStories) ? userStories.filter(isTree) : [];
}

/** The progress of the target, and below it the lines that the lane has added. */
export function mergedProgress(base: string, target: string, tip: string): string {
  const added = tip.startsWith(base) ? tip.slice(base.length) : linesOnlyIn(tip, base);
  if (added.trim() === "") return target;
  const own = base.endsWith("\n") ? added : added.replace(/^\n/, "");
  const between = target === "" || target.endsWith("\n") ? "" : "\n";
  return `${target}${between}${own.endsWith("\n") ? own : `${own}\n`}`;
}

function linesOnlyIn(text: string, other: string): string {
  const known = new Map<string, number>();
  for (const line of other.split("\n")) known.set(line, (known.get(line) ?? 0) + 1);
  const isNew = (line: string): boolean => {
    const count = known.get(line) ?? 0;
    known.set(line, count - 1);
    return count <= 0;
  };
  return text.split("\n").filter(isNew).join("\n");
}

/** The list with a story that has to be worked on and reviewed anew. */
export function reopened(text: string, story: string): string {
  return changed(text, story, FRESH);
}

/** The list with a story whose review is the one that it has in another list. */
function reviewedAsIn(reviewed: string, text: string, story: string): string {
  const own = storiesIn(treeIn(reviewed)).find((one) => one["id"] === story) ?? {};
  const fields = Object.keys(FRESH).map((field) => [field, own[field]]);
  return changed(text, story, Object.fromEntries(fields));
}

function changed(text: string, story: string, fields: Record<string, unknown>): string {
  const tasks = treeIn(text);
  const userStories = storiesIn(tasks).map((one) => (one["id"] === story ? { ...one, ...fields } : one));
  return `${JSON.stringify({ ...tasks, userStories }, null, 2)}\n`;
}
