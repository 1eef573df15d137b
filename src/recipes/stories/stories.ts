import type { LoopEventBody, Violation } from "../../events.js";
import { questionIn } from "../../question.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { Redact } from "../../state/redact.js";
import type { CheckContext } from "../../verify/checks.js";
import { failureOf } from "../../verify/failure.js";
import { runChecks } from "../../verify/run-checks.js";
import { hasFailed, type Schedule } from "../../verify/schedule.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../recipe.js";
import { activeText } from "./active.js";
import { commitBack } from "./commit-back.js";
import { closeTurn, endTurn } from "./end-turn.js";
import { createGuard } from "./guarded-files.js";
import { whyNot } from "./judge.js";
import { type LastTime, lastTime, type Remembered } from "./memory.js";
import { hasMoved, needsProof } from "./progress.js";
import { storiesPrompt } from "./prompt.js";
import { tasksToStart } from "./start-list.js";
import type { PutBack } from "./story-files.js";
import { changesBetween } from "./story-state.js";
import { isDone as isDoneStory, nextStory, type TaskList } from "./tasks.js";
import { trustedStore } from "./trusted.js";
import { type Believing, beginTurn, type Turn } from "./turn.js";
import { claimsDone, MAX_VIOLATIONS, type Result, verdictOf } from "./verdict.js";

export interface StoriesSpec {
  kind: "stories";
  /** The folder with tasks.json, from the workspace on. */
  dir: string;
  skipReview: boolean;
  reviewCap: number;
  /** Whether reviews are asked of another agent. */
  hasReviewer: boolean;
  /** What was not committed when the run began, outside of that folder. */
  dirty: string[];
}

export interface StoriesContext {
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  /** Whether git has to be able to tell what is committed. */
  inRepository: boolean;
  schedule?: Schedule | undefined;
  /** What a verify command leaves running is left alone. */
  keepBackground?: boolean | undefined;
  /** Folder of the run: what it holds is believed. */
  records: string;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
  /** Whether agents work in a sandbox. */
  isShutIn?: boolean;
  /** Where verify commands run, if they are shut in. */
  sandbox?: Sandbox | undefined;
  /** Asked after each check: why it does not count. */
  spoiled?: CheckContext["spoiled"];
}

export interface Restoring extends StoriesContext, PutBack {}

const CHECK_TIMEOUT_MS = 10 * 60_000;

/** The role of the agent that reviews, where it is another one. */
export const REVIEWER = "reviewer";

/** Asks for one story at a time, and for a review of each by an agent that has not written it. */
export function storiesRecipe(spec: StoriesSpec, given: StoriesContext): Recipe {
  const context = believing(given);
  const guard = createGuard(spec, context);
  let turn: Turn | undefined;
  let last: Remembered = lastTime(undefined);
  let prompt = "";
  /** Set while what an agent makes of the stories was not judged. */
  let open: Turn | undefined;

  return {
    name: "stories",
    verifies: true,

    async plan({ iteration, maxIterations, memory, answered }: PlanContext) {
      last = lastTime(memory);
      turn = beginTurn(spec, context, { iteration, answered });
      open = turn;
      const { mode, before } = turn;
      const active = { maxIterations, mode, before, spec, isShutIn: context.isShutIn ?? false };
      const template = guard.begin(activeText(active), iteration === 1);
      await commitBack(context);
      const story = nextStory(before, mode, spec);
      const isDone = before.userStories.every((one) => isDoneStory(one, spec));
      prompt = storiesPrompt({ ...last, template, iteration, maxIterations, mode, story, isDone, spec });
      return {
        prompt,
        mode,
        about: story?.id,
        hasWorked: () => open !== undefined && hasMoved(spec, context, open, last.failures),
        ...(mode === "review" && spec.hasReviewer && { agent: REVIEWER }),
      };
    },

    baseline: (before: VerifyContext) => runCommands(tasksToStart(spec, context.workspace), before),

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      if (turn === undefined) throw new Error("an iteration is verified that was not planned");
      const { iteration } = verify;
      const isProved = last.isKnown && !needsProof(spec, context, turn);
      const failures = isProved ? last.failures : yield* runVerifyCommands(turn, verify);
      if (failures === undefined) return undefined;
      const asks = questionIn(answer.finalMessage, prompt) !== undefined;
      const ended = await endTurn(spec, context, turn, { iteration, answer, failures, asks });
      const broken = [...ended.violations, ...putBackBy(guard, iteration)];
      open = undefined;
      await commitBack(context);
      yield* broken;
      yield* ended.uncommitted;
      const changes = changesBetween(turn.before, ended.after, spec, iteration);
      yield* changes;
      const { mode } = turn;
      const done = { answer, asks, mode, after: ended.after, changes, failures, error: answer.error };
      return verdictOf({ ...done, ...judgedBy(spec, last, { ...done, ...ended, broken }) }, spec);
    },

    async mayStop() {
      if (turn === undefined) return undefined;
      return whyNot(spec, context, { ...turn, failing: last.failures.map(({ command }) => command) });
    },

    async close() {
      if (open !== undefined) {
        closeTurn(spec, context, open);
        guard.restore(open.iteration);
      }
      open = undefined;
      guard.end();
      await commitBack(context);
    },
  };

  function runCommands({ verifyCommands = [] }: TaskList, verify: VerifyContext) {
    return runChecks({ checks: verifyCommands, checkTimeoutMs: CHECK_TIMEOUT_MS }, context, verify);
  }

  async function* runVerifyCommands({ before }: Turn, verify: VerifyContext) {
    const results = yield* runCommands(before, verify);
    return results?.filter(hasFailed).map((check) => failureOf(check, CHECK_TIMEOUT_MS));
  }
}

function putBackBy(guard: ReturnType<typeof createGuard>, iteration: number): Violation[] {
  return guard.restore(iteration).map((one) => ({ type: "violation", iteration, ...one }));
}

function believing(given: StoriesContext): Believing {
  const trusted = trustedStore(given.records);
  return { ...given, putBack: new Set(), trusted };
}

interface Judgement extends Pick<Result, "answer" | "after"> {
  /** With what the agent broke the rules. */
  broken: Violation[];
  uncommitted: Violation[];
}

/** What the next iteration is told, and how often in a row it came to this. */
function judgedBy(
  spec: StoriesSpec,
  last: LastTime,
  { answer, after, broken, uncommitted }: Judgement,
): Pick<Result, "told" | "broken" | "isUncommitted" | "violations"> {
  const left = after.userStories.filter((story) => !isDoneStory(story, spec)).length;
  const isUncommitted = uncommitted.length > 0;
  const isWithheld = left === 0 && isUncommitted;
  return {
    told: [...[...broken, ...uncommitted].map(({ what }) => what), ...refusedClaim(answer, left)],
    broken: broken.map(({ story, file }) => story ?? file ?? ""),
    isUncommitted,
    violations: broken.length > 0 || isWithheld ? inARow(last) + 1 : 0,
  };
}

function refusedClaim(answer: Answer, left: number): string[] {
  if (left === 0 || !claimsDone(answer)) return [];
  const stories = left === 1 ? "1 story is" : `${left} stories are`;
  return [`<promise>COMPLETE</promise> was said, and it was not true: ${stories} not done.`];
}

/** Whoever resumes a run that was given up gives it another chance. */
function inARow({ violations }: LastTime): number {
  return violations >= MAX_VIOLATIONS ? 0 : violations;
}
