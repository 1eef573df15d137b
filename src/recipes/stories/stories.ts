import { rmSync } from "node:fs";
import { join } from "node:path";
import type { LoopEventBody } from "../../events.js";
import type { Answer, Recipe, Verdict, VerifyContext } from "../../loop/recipe.js";
import { questionIn } from "../../question.js";
import type { RecipeRow } from "../row.js";
import { activeText } from "./active.js";
import { closeTurn, endTurn, runBaseline, runVerifyCommands, type Seen, seenAfter } from "./end-turn.js";
import { judge, stopFindings } from "./judge.js";
import { storiesPrompt } from "./prompt.js";
import {
  beginFiles,
  commitBack,
  openRun,
  REVIEWER,
  restore,
  type StoriesContext,
  type StoriesRun,
  type StoriesSpec,
  tasksText,
} from "./run.js";
import { tasksToShow } from "./start.js";
import { changesBetween, nextStory } from "./state.js";
import { beginTurn, type Turn } from "./turn.js";
import { lastTime, verdictOf } from "./verdict.js";

export const stories: RecipeRow<StoriesSpec> = {
  // No run over stories begins outside of a repository.
  create: (spec, context) => storiesRecipe(spec, { ...context, inRepository: true }),
  checks: ({ dir }, workspace) => tasksToShow(dir, workspace).verifyCommands ?? [],
  commits: () => "agents",
};

/** Asks for one story at a time, and for a review of each by an agent that has not written it. */
export function storiesRecipe(spec: StoriesSpec, context: StoriesContext): Recipe {
  const run = openRun(spec, context);
  let last = lastTime(undefined);
  let prompt = "";
  /** Set while what an agent makes of the stories was not judged; `seen` when it has ended. */
  let open: { turn: Turn; seen?: Seen } | undefined;
  /** Whether the files were the user's since the last iteration. */
  let wasReleased = false;

  const closeOpen = async (): Promise<void> => {
    const cutOff = open;
    open = undefined;
    if (cutOff !== undefined) await closeTurn(run, cutOff.turn, cutOff.seen);
  };

  return {
    name: "stories",
    keepsStories: true,
    verifies: true,

    async plan({ iteration, maxIterations, memory, answered }) {
      last = lastTime(memory);
      const turn = await beginTurn(run, { iteration, answered }, wasReleased);
      const { mode, before, changed } = turn;
      wasReleased = false;
      open = { turn };
      if (turn.isCutOff) restore(run, iteration);
      const template = beginFiles(run, activeText(run, turn, maxIterations), iteration === 1, changed);
      await commitBack(run);
      const story = nextStory(before, mode, spec);
      prompt = storiesPrompt({ ...last, template, iteration, maxIterations, mode, before, story, spec });
      return {
        prompt,
        mode,
        about: story?.id,
        ...(changed.length > 0 && { changed }),
        hasWorked: () => open !== undefined && hasMoved(run, turn, last.failing),
        ...(mode === "review" && spec.hasReviewer && { agent: REVIEWER }),
      };
    },

    baseline: (before) => runBaseline(run, before),

    async *verify(answer: Answer, verify: VerifyContext): AsyncGenerator<LoopEventBody, Verdict | undefined> {
      if (open === undefined) throw new Error("an iteration is verified that was not planned");
      const { turn } = open;
      const seen = await seenAfter(run, turn);
      open = { turn, seen };
      const isProven = last.isKnown && !needsProof(run, turn, seen.text);
      const failures = isProven ? last.failures : yield* runVerifyCommands(run, turn, seen, verify);
      if (failures === undefined) return undefined;
      const asks = questionIn(answer.finalMessage, prompt) !== undefined;
      const ending = { seen, answer, failures, asks };
      const result = await endTurn(run, turn, ending);
      open = undefined;
      const changes = changesBetween(turn.before, result.after, spec, verify.iteration);
      yield* [...result.broken, ...result.meddled, ...result.uncommitted, ...changes];
      return verdictOf({ ...ending, ...result, mode: turn.mode, changes, last }, spec);
    },

    async mayStop() {
      if (open === undefined) return undefined;
      const { findings } = await stopFindings(run, open.turn, last.failing);
      return findings.map(({ message }) => message).join("\n\n") || undefined;
    },

    async release() {
      wasReleased = true;
      await closeOpen();
    },

    async close() {
      await closeOpen();
      rmSync(join(run.workspace, run.files.active), { recursive: true, force: true });
      await commitBack(run);
    },
  };
}

/** A review that asks for changes proves nothing; one that approves has to be proved, like all other work. */
function needsProof(run: StoriesRun, turn: Turn, text: string | undefined): boolean {
  if (turn.mode !== "review") return true;
  const { tasks = turn.before } = judge(run, text, turn);
  return changesBetween(turn.before, tasks, run.spec, turn.iteration).some(({ to }) => to === "approved");
}

/** Whether a story has moved on as it may, though the agent said nothing. */
function hasMoved(run: StoriesRun, turn: Turn, failing: string[]): boolean {
  const { tasks, findings } = judge(run, tasksText(run), { ...turn, failing });
  if (tasks === undefined || findings.length > 0) return false;
  return changesBetween(turn.before, tasks, run.spec, turn.iteration).length > 0;
}
