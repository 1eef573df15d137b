import type { LoopEventBody, Violation } from "../../events.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import type { Redact } from "../../state/redact.js";
import { failureOf } from "../../verify/failure.js";
import { runChecks } from "../../verify/run-checks.js";
import { hasFailed, type Schedule } from "../../verify/schedule.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../recipe.js";
import { readTextFile } from "../text-file.js";
import { activeText } from "./active.js";
import { endTurn } from "./end-turn.js";
import { createGuard } from "./guarded-files.js";
import { whyNot } from "./judge.js";
import { type LastTime, lastTime } from "./memory.js";
import { storiesPrompt } from "./prompt.js";
import { tasksToStart } from "./start-list.js";
import { storyFiles } from "./story-files.js";
import { changesBetween } from "./story-state.js";
import { nextStory, type TaskList } from "./tasks.js";
import { trustedStore } from "./trusted.js";
import { beginTurn, type Turn } from "./turn.js";
import { MAX_VIOLATIONS, verdictOf } from "./verdict.js";

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
  schedule?: Schedule | undefined;
  /** Folder of the run: what it holds is believed. */
  records: string;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
  /** Whether agents work in a sandbox. */
  isShutIn?: boolean;
  /** Where verify commands run, if they are shut in. */
  sandbox?: Sandbox | undefined;
}

const CHECK_TIMEOUT_MS = 10 * 60_000;

/** The role of the agent that reviews, where it is another one. */
export const REVIEWER = "reviewer";

/** Asks for one story at a time, and for a review of each by an agent that has not written it. */
export function storiesRecipe(spec: StoriesSpec, given: StoriesContext): Recipe {
  const context = { ...given, trusted: trustedStore(given.records) };
  const guard = createGuard(spec, context);
  let turn: Turn | undefined;
  let last: LastTime = lastTime(undefined);

  return {
    name: "stories",
    verifies: true,

    async plan({ iteration, maxIterations, memory, answered }: PlanContext) {
      last = lastTime(memory);
      turn = beginTurn(spec, context, { iteration, answered });
      const { mode, before } = turn;
      guard.begin(
        activeText({ maxIterations, mode, before, spec, isShutIn: context.isShutIn ?? false }),
        iteration === 1,
      );
      const story = nextStory(before, mode, spec);
      const template = readTextFile("prompt template", storyFiles(spec.dir).prompt, context.workspace);
      return {
        prompt: storiesPrompt({ ...last, template, iteration, maxIterations, mode, story, spec }),
        mode,
        about: story?.id,
        ...(mode === "review" && spec.hasReviewer && { agent: REVIEWER }),
      };
    },

    baseline: (before: VerifyContext) => runCommands(tasksToStart(spec, context.workspace), before),

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      if (turn === undefined) throw new Error("an iteration is verified that was not planned");
      const { iteration } = verify;
      const failures = turn.mode === "review" ? last.failures : yield* runVerifyCommands(turn, verify);
      if (failures === undefined) return undefined;
      const ended = await endTurn(spec, context, turn, { iteration, answer, failures });
      const restored = guard
        .restore(iteration)
        .map((one): Violation => ({ type: "violation", iteration, ...one }));
      yield* ended.violations;
      yield* restored;
      yield* ended.uncommitted;
      const changes = changesBetween(turn.before, ended.after, spec, iteration);
      yield* changes;
      const all = [...ended.violations, ...restored];
      return verdictOf(
        {
          answer,
          mode: turn.mode,
          after: ended.after,
          changes,
          failures,
          error: answer.error,
          told: [...all, ...ended.uncommitted].map(({ what }) => what),
          broken: all.map(({ story, file }) => story ?? file ?? ""),
          isUncommitted: ended.uncommitted.length > 0,
          violations: all.length > 0 ? inARow(last) + 1 : 0,
        },
        spec,
      );
    },

    async mayStop() {
      if (turn === undefined) return undefined;
      return whyNot(spec, context, { ...turn, failing: last.failures.map(({ command }) => command) });
    },

    close: () => guard.end(),
  };

  function runCommands({ verifyCommands = [] }: TaskList, verify: VerifyContext) {
    return runChecks({ checks: verifyCommands, checkTimeoutMs: CHECK_TIMEOUT_MS }, context, verify);
  }

  async function* runVerifyCommands({ before }: Turn, verify: VerifyContext) {
    const results = yield* runCommands(before, verify);
    return results?.filter(hasFailed).map((check) => failureOf(check, CHECK_TIMEOUT_MS));
  }
}

/** Whoever resumes a run that was given up gives it another chance. */
function inARow({ violations }: LastTime): number {
  return violations >= MAX_VIOLATIONS ? 0 : violations;
}
