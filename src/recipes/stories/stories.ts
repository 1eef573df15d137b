import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CheckFinished, LoopEventBody, StateChanged } from "../../events.js";
import { questionIn } from "../../loop/ask.js";
import type { Answer, Recipe, Verdict, VerifyContext } from "../../loop/recipe.js";
import { CHECK_TIMEOUT_MS } from "../../settings/limits.js";
import { type Check, hasFailed, notRun } from "../../verify/check.js";
import { saysPromise } from "../../verify/done.js";
import { asJson, type Failure, failureOf, likeness, likenessOf, namesOf } from "../../verify/failure.js";
import { runHidden } from "../../verify/hidden.js";
import { putTextBack, putTextsBack } from "../../verify/protected/find.js";
import { runChecks } from "../../verify/schedule.js";
import { textAt } from "../../workspace/content.js";
import { asChecks, type TaskCheck } from "../checks.js";
import { readTextFile } from "../prompt.js";
import type { RecipeRow } from "../row.js";
import { type LastTime, lastTime, storiesPrompt } from "./prompt.js";
import {
  checksFor,
  commitBack,
  openRun,
  type StoriesContext,
  type StoriesRun,
  type StoriesSpec,
  type Turn,
} from "./run.js";
import { tasksIn } from "./start.js";
import {
  activeText,
  changesBetween,
  modeOf,
  nextStory,
  openStories,
  REVIEWER,
  type ReviewRules,
  storyFiles,
} from "./state.js";
import { filledIn, readTasks, type TaskList } from "./tasks.js";
import {
  beginTurn,
  closeTurn,
  type Ending,
  endTurn,
  type Handover,
  hasMoved,
  stopFindings,
  takeOver,
} from "./turn.js";

export const stories: RecipeRow<StoriesSpec> = {
  // No run over stories begins outside of a repository.
  create: (spec, context) => storiesRecipe(spec, { ...context, inRepository: true }),
  checks: (spec, workspace) =>
    checksFor(spec, tasksIn(spec.dir, workspace).verifyCommands ?? []).map(({ command }) => command),
  // Commands that agents have added are not proof of their work.
  async proof(spec, begun) {
    const text = await begun(storyFiles(spec.dir).tasks);
    return checksFor(spec, readTasks(text ?? "", undefined, filledIn).tasks?.verifyCommands ?? []);
  },
  async done({ dir }, begun, now) {
    const { tasks } = storyFiles(dir);
    const [before, after] = await Promise.all([begun(tasks), now(tasks)]);
    const old = passed(before);
    return passed(after).filter(({ id }) => !old.some((story) => story.id === id));
  },
  hasInputs: ({ checks = [] }) => checks.some(({ inputs }) => inputs !== undefined),
  commits: () => "agents",
  sandbox: "auto",
};

function passed(text = "") {
  const { userStories = [] } = readTasks(text).tasks ?? {};
  return userStories.filter(({ passes }) => passes);
}

/** Asks for one story at a time, and for a review of each by an agent that has not written it. */
export function storiesRecipe(spec: StoriesSpec, context: StoriesContext): Recipe {
  const run = openRun(spec, context);
  const { workspace, files } = run;
  let last = lastTime(undefined);
  let prompt = "";
  /** Set while what an agent makes of the stories was not judged; `handover` when it has ended. */
  let open: { turn: Turn; handover?: Handover } | undefined;

  const closeOpen = async (): Promise<void> => {
    const cutOff = open;
    open = undefined;
    if (cutOff !== undefined) await closeTurn(run, cutOff.turn, cutOff.handover);
  };

  return {
    name: "stories",
    keepsStories: true,
    verifies: true,

    async plan({ iteration, maxIterations, memory, answered }) {
      last = lastTime(memory);
      const { turn, isDone } = await beginTurn(run, { iteration, answered, failing: last.failing });
      const { mode, before, changed } = turn;
      open = { turn };
      run.active = activeText(spec, { isShutIn: run.isShutIn, mode, before, maxIterations });
      putTextBack(workspace, files.active, run.active);
      const template = readTextFile("prompt template", files.prompt, workspace);
      await commitBack(run);
      const story = nextStory(before, mode, spec);
      prompt = storiesPrompt({ ...last, ...turn, template, maxIterations, story, spec });
      return {
        ...{ prompt: isDone ? null : prompt, mode, about: story?.id },
        ...(changed.length > 0 && { changed }),
        hasWorked: () => open !== undefined && hasMoved(run, turn, last.failing),
        ...(mode === "review" && spec.hasReviewer && { agent: REVIEWER }),
      };
    },

    baseline: (verify) => runBaseline(run, verify),

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      if (open === undefined) throw new Error("an iteration is verified that was not planned");
      const { turn } = open;
      const { mode, before, iteration } = turn;
      const handover = await takeOver(run, turn);
      open = { turn, handover };
      // A review that asks for changes proves nothing; one that approves has to be proved, like all other work.
      const { tasks = before } = readTasks(handover.text);
      const isApproval = changesBetween(before, tasks, spec, iteration).some(({ to }) => to === "approved");
      const isProven = last.isKnown && mode === "review" && !isApproval;
      const failures = isProven ? last.failures : yield* runStoryChecks(run, turn, handover, verify);
      if (failures === undefined) return undefined;
      const asks = questionIn(answer.finalMessage, prompt) !== undefined;
      const ending = { handover, answer, asks, failures };
      const result = await endTurn(run, turn, ending);
      open = undefined;
      const changes = changesBetween(before, result.after, spec, iteration);
      yield* [...result.broken, ...result.meddled, ...result.uncommitted, ...changes];
      return verdictOf({ ...result, ...ending, mode, changes, last }, spec);
    },

    async mayStop() {
      if (open === undefined) return undefined;
      const { findings } = await stopFindings(run, open.turn, last.failing);
      return findings.map(({ message }) => message).join("\n\n") || undefined;
    },

    async release() {
      run.isReleased = true;
      await closeOpen();
    },

    async close() {
      await closeOpen();
      rmSync(join(workspace, files.active), { recursive: true, force: true });
      await commitBack(run);
    },
  };
}

function logged(checks: TaskCheck[], folder: string): Check[] {
  return checks.map((check, index) => ({ ...check, log: join(folder, `check-${index + 1}.log`) }));
}

/** Before the first iteration. The files of the stories are then what they were before it. */
async function* runBaseline(
  run: StoriesRun,
  verify: VerifyContext,
): AsyncGenerator<LoopEventBody, CheckFinished[] | undefined> {
  const { workspace, files } = run;
  const { verifyCommands = [] } = tasksIn(run.spec.dir, workspace, run.spec);
  const { active: _, ...own } = files;
  const known = Object.values(own).map((file) => ({ file, text: textAt(join(workspace, file)) }));
  const checks = logged(checksFor(run.spec, verifyCommands), run.folderFor(verify.iteration));
  const results = yield* runChecks(checks, run, verify);
  putTextsBack(workspace, known);
  return results?.map(({ event }) => event);
}

/** Runs the checks that the run began with, then those that agents have added, which run where agents run, or not at all. */
async function* runStoryChecks(
  run: StoriesRun,
  { commands, before }: Turn,
  { text, changed }: Handover,
  verify: VerifyContext,
): AsyncGenerator<LoopEventBody, Failure[] | undefined> {
  const { verifyCommands = [] } = readTasks(text).tasks ?? before;
  const folder = run.folderFor(verify.iteration);
  const inside = join(folder, "added");
  const trusted = checksFor(run.spec, commands);
  const isAdded = (command: string): boolean => !trusted.some((check) => check.command === command);
  const { checkTimeoutMs = CHECK_TIMEOUT_MS } = run.spec;
  const added = logged(asChecks(verifyCommands.filter(isAdded), checkTimeoutMs), inside);
  // What was put back, and checks before them, have written files since the agent ended.
  const anew = { ...verify, tree: verify.tree && { ...verify.tree, before: undefined } };
  const own = yield* runChecks(logged(trusted, folder), run, changed.length > 0 ? anew : verify);
  if (own === undefined) return undefined;
  let others = added.map((check) => notRun(check, verify.iteration, "untrusted"));
  if (run.agentSandbox === undefined) yield* others.map(({ event }) => event);
  else {
    mkdirSync(inside, { recursive: true });
    const sandboxed = { ...run, sandbox: run.agentSandbox, schedule: undefined };
    const results = yield* runChecks(added, { ...sandboxed, after: own.length }, anew);
    if (results === undefined) return undefined;
    others = results;
  }
  const failed = [...own, ...others].filter(hasFailed);
  const after = own.length + others.length;
  const hidden =
    failed.length > 0 || verify.tree === undefined ? [] : yield* runHidden({ ...run, after }, anew);
  return hidden && [...failed, ...hidden.filter(hasFailed)].map(failureOf);
}

/** What became of an iteration. */
interface Result extends Awaited<ReturnType<typeof endTurn>>, Ending, Pick<Turn, "mode"> {
  changes: StateChanged[];
  last: LastTime;
}

/** Iterations in a row that break the rules before the run is given up. */
const MAX_VIOLATIONS = 3;

async function verdictOf(result: Result, rules: ReviewRules): Promise<Verdict> {
  const { answer, asks, after, failures, broken, meddled, uncommitted, last } = result;
  const claimedDone = saysPromise(answer.finalMessage, "COMPLETE");
  const open = openStories(after, rules).length;
  const allDone = wordsForDone(after, rules);
  if (open === 0 && uncommitted.length === 0)
    return { passed: true, reason: allDone, claimedDone, stop: "completed" };
  const told = [...broken, ...meddled, ...uncommitted].map(({ what }) => what);
  const stories = open === 1 ? "1 story is" : `${open} stories are`;
  if (open > 0 && claimedDone)
    told.push(`The agent said <promise>COMPLETE</promise>, but it is not true: ${stories} not done.`);
  // A run that was given up and is resumed has another chance.
  const violations = broken.length > 0 || open === 0 ? (last.violations % MAX_VIOLATIONS) + 1 : 0;
  const memory = { told, violations, failures: asJson(failures), error: answer.error };
  const given = { passed: false, claimedDone, memory };
  const blocked = outOfReviews(result, rules);
  if (blocked !== undefined) return { ...given, reason: blocked, stop: "blocked" };
  if (violations > 0) {
    const subjects = new Set(broken.map(({ story, file }) => story ?? file ?? ""));
    const reason =
      open === 0
        ? `${allDone}, but not everything is committed`
        : `the agent broke the rules: ${[...subjects].join(", ")}`;
    const stop = violations >= MAX_VIOLATIONS && !asks && { stop: "violation" as const };
    return { ...given, reason, ...stop, failure: await likeness(told) };
  }
  const wrong = whatIsMissing(result, claimedDone ? open : 0);
  if (wrong === undefined) return { ...given, passed: true, reason: moved(result.changes) };
  return { ...given, reason: wrong, failure: await likeness([wrong, ...failures.map(likenessOf)]) };
}

function wordsForDone({ userStories }: TaskList, { skipReview, only }: ReviewRules): string {
  const done = skipReview ? "passed" : "approved";
  return only === undefined ? `all stories are ${done} (${userStories.length})` : `${only} is ${done}`;
}

/** Work whose checks fail cannot be approved, and no review is left that could ask for more. */
function outOfReviews({ after, asks, failures }: Result, rules: ReviewRules): string | undefined {
  if (asks || failures.length === 0 || modeOf(after, rules) !== "review") return undefined;
  const story = nextStory(after, "review", rules);
  if (story === undefined || story.reviewCount <= rules.reviewCap) return undefined;
  return `${story.id} was reviewed ${story.reviewCount} times and its checks failed: it needs you`;
}

function whatIsMissing(result: Result, open: number): string | undefined {
  const { failures, changes, mode, uncommitted, after } = result;
  if (failures.length > 0 && mode !== "review") return `checks failed: ${namesOf(failures)}`;
  if (open > 0) return `claimed to be done, but stories are open: ${open} of ${after.userStories.length}`;
  if (changes.length === 0)
    return mode === "implement" ? "no story changed its state" : "the feedback is still open";
  return uncommitted.length > 0 ? `${moved(changes)}; not everything is committed` : undefined;
}

const MOVED: Record<string, (reviews: number) => string> = {
  needs_review: () => "waits for review",
  changes_requested: (reviews) => `needs changes (review ${reviews})`,
  approved: (reviews) => `is approved (review ${reviews})`,
};

/** `US-001 is approved (review 2)` */
function moved(changes: StateChanged[]): string {
  return changes
    .map(({ story, to, reviews = 0 }) => `${story} ${MOVED[to]?.(reviews) ?? `is ${to}`}`)
    .join(", ");
}
