import type { LoopEventBody, Violation } from "../../events.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../../loop/recipe.js";
import { questionIn } from "../../question.js";
import type { Redact } from "../../records/redact.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { CheckSetup } from "../../verify/check.js";
import type { Schedule } from "../../verify/schedule.js";
import { activeText } from "./active.js";
import { closeTurn, endTurn, lookOnce, type Seen } from "./end-turn.js";
import { commitBack, createGuard, type PutBack } from "./guarded-files.js";
import { whyNot } from "./judge.js";
import { type LastTime, lastTime, type Remembered } from "./memory.js";
import { hasMoved, needsProof } from "./progress.js";
import { storiesPrompt } from "./prompt.js";
import { changesBetween } from "./story-state.js";
import { isDone as isDoneStory, nextStory } from "./tasks.js";
import { trustedStore } from "./trusted.js";
import { type Believing, beginTurn, type Turn } from "./turn.js";
import { claimsDone, MAX_VIOLATIONS, type Result, verdictOf } from "./verdict.js";
import { runBaseline, runVerifyCommands } from "./verify-commands.js";

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
  spoiled?: CheckSetup["spoiled"];
  /** Where agents work, and verify commands that agents added run. */
  agentSandbox?: Sandbox | undefined;
}

export interface Restoring extends StoriesContext, PutBack {}

/** The role of the agent that reviews, where it is another one. */
export const REVIEWER = "reviewer";

/** Asks for one story at a time, and for a review of each by an agent that has not written it. */
export function storiesRecipe(spec: StoriesSpec, given: StoriesContext): Recipe {
  const context = believing(given);
  const guard = createGuard(spec, context);
  let turn: Turn | undefined;
  let last: Remembered = lastTime(undefined);
  let prompt = "";
  /** Set while what an agent makes of the stories was not judged; `seen` when it has ended. */
  let open: { turn: Turn; seen?: Seen } | undefined;
  /** Whether the files were the user's since the last iteration. */
  let wasReleased = false;

  return {
    name: "stories",
    verifies: true,

    async plan({ iteration, maxIterations, memory, answered }: PlanContext) {
      last = lastTime(memory);
      turn = await beginTurn(spec, context, { iteration, answered }, wasReleased);
      wasReleased = false;
      open = { turn };
      const { mode, before, changed } = turn;
      if (turn.isCutOff) guard.restore(iteration);
      const active = { maxIterations, mode, before, spec, isShutIn: context.isShutIn ?? false };
      const template = guard.begin(activeText(active), iteration === 1, changed);
      await commitBack(context);
      const story = nextStory(before, mode, spec);
      prompt = storiesPrompt({ ...last, template, iteration, maxIterations, mode, before, story, spec });
      return {
        prompt,
        mode,
        about: story?.id,
        ...(changed.length > 0 && { changed }),
        hasWorked: () => open !== undefined && hasMoved(spec, context, open.turn, last.failures),
        ...(mode === "review" && spec.hasReviewer && { agent: REVIEWER }),
      };
    },

    baseline: (before: VerifyContext) => runBaseline(spec, context, before),

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      if (turn === undefined) throw new Error("an iteration is verified that was not planned");
      const seen = await lookOnce(spec, context, turn, guard);
      open = { turn, seen };
      const isProved = last.isKnown && !needsProof(spec, seen.text, turn);
      const failures = isProved ? last.failures : yield* runVerifyCommands(turn, seen, context, verify);
      if (failures === undefined) return undefined;
      const asks = questionIn(answer.finalMessage, prompt) !== undefined;
      const ending = { seen, answer, failures, asks, haveCommandsRun: !isProved };
      const ended = await endTurn(spec, context, turn, guard, ending);
      open = undefined;
      yield* [...ended.broken, ...ended.meddled, ...ended.uncommitted];
      const changes = changesBetween(turn.before, ended.after, spec, verify.iteration);
      yield* changes;
      const done = { ...ending, mode: turn.mode, after: ended.after, changes, error: answer.error };
      return verdictOf({ ...done, ...judgedBy(spec, last, { ...done, ...ended }) }, spec);
    },

    async mayStop() {
      return turn && whyNot(spec, context, turn, last.failures);
    },

    async release() {
      wasReleased = true;
      await closeOpen();
    },

    async close() {
      await closeOpen();
      guard.end();
      await commitBack(context);
    },
  };

  async function closeOpen(): Promise<void> {
    const cutOff = open;
    open = undefined;
    if (cutOff !== undefined) await closeTurn(spec, context, cutOff.turn, guard, cutOff.seen);
  }
}

function believing(given: StoriesContext): Believing {
  const trusted = trustedStore(given.records);
  return { ...given, putBack: new Set(), trusted };
}

interface Judgement extends Pick<Result, "answer" | "after"> {
  /** With what the agent broke the rules. */
  broken: Violation[];
  /** What verify commands did to the files of the stories: it is told, and counts for nothing. */
  meddled: Violation[];
  uncommitted: Violation[];
}

/** What the next iteration is told, and how often in a row it came to this. */
function judgedBy(
  spec: StoriesSpec,
  last: LastTime,
  { answer, after, broken, meddled, uncommitted }: Judgement,
): Pick<Result, "told" | "broken" | "isUncommitted" | "violations"> {
  const left = after.userStories.filter((story) => !isDoneStory(story, spec)).length;
  const isUncommitted = uncommitted.length > 0;
  const isWithheld = left === 0 && isUncommitted;
  return {
    told: [...[...broken, ...meddled, ...uncommitted].map(({ what }) => what), ...refusedClaim(answer, left)],
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
