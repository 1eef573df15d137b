import { toRalphError } from "../errors.js";
import type { LoopEvent, Outcome, StopReason } from "../events.js";
import { questionIn } from "../question.js";
import { spendingOf } from "../records/payment.js";
import { advance, type RunState } from "../records/run-state.js";
import { exitCodeOf, isSuccess } from "../stop-reasons.js";
import { ask, type Question } from "./ask.js";
import { baselineNow, runBaseline, withBaseline } from "./baseline.js";
import type { AgentRun, Effects, Settled } from "./effects.js";
import { backoffSeconds } from "./failures.js";
import { finished, treeFor } from "./finish.js";
import { howItGoesOn } from "./go-on.js";
import { limitReached, remaining } from "./limits.js";
import { pausePoint, sleepUntilPaused } from "./pause.js";
import type { Recipe } from "./recipe.js";
import { type Events, type LoopOptions, limitsOf, type Run, type Stop, standing } from "./run.js";
import { startStopwatch } from "./stopwatch.js";
import { stuckHint } from "./stuck-words.js";

/** Files that are named when a run ends; the others are only counted. */
const MAX_FILES = 500;

/**
 * Plan the prompt, run the agent, verify, decide: again and again until there is a reason to stop.
 * Yields all that happens and goes on only when the last event was taken, so that what is written down
 * comes before what is done next. `state` is where the run stands: fresh, or read from a journal.
 */
export async function* loop(
  recipe: Recipe,
  effects: Effects,
  options: LoopOptions,
  state: RunState,
): AsyncGenerator<LoopEvent, Outcome> {
  const bodies = fromStartToFinish({ recipe, effects, options, state });
  try {
    for (;;) {
      const step = await bodies.next();
      if (step.done) return step.value;
      const ts = effects.clock.now().toISOString();
      const envelope = { v: 1 as const, type: step.value.type, ts, run: state.run };
      const event: LoopEvent = Object.assign(envelope, step.value);
      advance(state, event);
      yield event;
    }
  } finally {
    // Whoever stops listening stops the agent, too.
    await bodies.return(undefined as never);
  }
}

async function* fromStartToFinish(given: Omit<Run, "stopwatch">): Events<Outcome> {
  const { recipe, effects, options, state } = given;
  const { others: _, ...told } = options;
  if (state.startedAt === "") yield { type: "run.started", recipe: recipe.name, ...told };
  else {
    const { agent, limits } = options;
    yield { type: "run.resumed", ...standing(state), agent, limits, ...baselineNow(state) };
  }
  const run = { ...given, stopwatch: startStopwatch(effects.clock, state.activeMs) };
  const stop = yield* untilStopped(run);
  const outcome = await outcomeOf(run, stop, yield* effects.settle(state.iterations));
  yield { type: "run.finished", ...outcome };
  return outcome;
}

async function* untilStopped(run: Run): Events<Stop> {
  try {
    return yield* iterations(run);
  } catch (error) {
    const known = toRalphError(error);
    if (known === undefined) throw error;
    const message = known.isFinal && known.hint ? `${known.message}; ${known.hint}` : known.message;
    return { reason: "error", message, isFinal: known.isFinal };
  }
}

async function* iterations(run: Run): Events<Stop> {
  const { recipe, effects, options, state, stopwatch } = run;
  yield* runBaseline(recipe, effects.signals, state);
  for (;;) {
    const reason = reasonToStop(run);
    if (reason !== undefined)
      return { reason, message: reason === "interrupted" ? undefined : state.message };
    const here = standing({ ...state, activeMs: stopwatch.activeMs() });
    stopwatch.skip(yield* pausePoint(effects, here, options.agent));
    if (effects.signals.stop.aborted) continue;
    const stop = yield* iteration(run);
    if (typeof stop === "object") return stop;
    if (stop === "again") continue;
    if (reasonToStop(run) === undefined && state.consecutiveFailures > 0) yield* backOff(run);
  }
}

function reasonToStop(run: Run): StopReason | undefined {
  const { effects, state, stopwatch } = run;
  if (effects.signals.stop.aborted) return "interrupted";
  // An answer of an earlier process is verified before limits count, as it would have been then.
  if (state.answer !== undefined) return state.stop;
  return state.stop ?? limitReached({ ...state, activeMs: stopwatch.activeMs() }, limitsOf(run));
}

/** An iteration counts when it was verified; one that was interrupted goes on where it was on resume. */
async function* iteration(run: Run): Events<Stop | "again" | undefined> {
  const { recipe, effects, state, stopwatch } = run;
  const { signals } = effects;
  // The time of an answer that is only verified now belongs to the iteration, too.
  const begun = stopwatch.activeMs() - (state.answer?.durationMs ?? 0);
  const number = state.iterations + 1;
  const question = yield* begin(run, number);
  const answer = state.answer ?? (question === null ? NOBODY_ASKED : yield* ask(run, number, question));
  if (answer === "again" || "reason" in answer) return answer;
  if (signals.stop.aborted) return undefined;
  const finalMessage = answer.error === null ? answer.finalMessage : "";
  // Without an answer, checks decide nothing.
  const isJudged = recipe.verifies && answer.error === null;
  // Checks may write files, too.
  const before = isJudged && state.tree !== undefined ? await effects.tree.look() : undefined;
  const tree = isJudged ? { ...effects.tree, before } : undefined;
  const asked = questionIn(finalMessage, question?.prompt ?? "");
  const context = { iteration: number, ...signals, tree };
  const verdict = yield* recipe.verify({ ...answer, finalMessage, asked }, context);
  // A success that was interrupted is verified anew on resume: files may change until then.
  if (verdict === undefined || (signals.stop.aborted && isSuccess(verdict.stop))) return undefined;
  const durationMs = stopwatch.activeMs() - begun;
  yield await finished(run, {
    iteration: number,
    answer,
    verdict,
    asked,
    durationMs,
    treeBefore: before?.content,
  });
  return undefined;
}

/** Plans an iteration and tells what it is about. Returns what to ask; null: nobody is asked. */
async function* begin(run: Run, iteration: number): Events<Question | null> {
  const { recipe, effects, state } = run;
  const { mode, about, changed, retries, prompt, checks, ...whom } = await recipe.plan({
    iteration,
    maxIterations: limitsOf(run).maxIterations,
    memory: state.memory,
    answered: state.answer !== undefined,
    baseline: state.baseline,
  });
  const tree = iteration === 1 && recipe.verifies ? await treeFor(run) : undefined;
  // An answer that is only verified now was asked for before.
  const isAsked = state.answer === undefined && prompt !== null;
  const steering = isAsked ? effects.steering?.() : undefined;
  yield {
    type: "iteration.started",
    iteration,
    ...(mode && { mode }),
    ...(about && { about }),
    ...(changed && { changed }),
    ...(retries && { retries }),
    ...(tree && { tree }),
    ...(steering && { steering: steering.text }),
  };
  steering?.taken();
  if (prompt === null) return null;
  const words = [stuckHint(state, limitsOf(run)), state.steering];
  return { ...whom, prompt: withWords(withBaseline(prompt, state, checks), words) };
}

/** The answer where a plan has no prompt. */
const NOBODY_ASKED: AgentRun = {
  finalMessage: "",
  error: null,
  empty: false,
  stopped: null,
  costUsd: null,
  durationMs: 0,
  steps: 0,
};

/** What is to be known besides, as what somebody said while the loop ran, is read last. */
function withWords(prompt: string, words: (string | undefined)[]): string {
  return [prompt, ...words.filter((text) => text !== undefined)].join("\n\n");
}

async function* backOff(run: Run): Events<void> {
  const { effects, state, stopwatch } = run;
  const limits = limitsOf(run);
  const attempt = state.consecutiveFailures;
  const seconds = backoffSeconds(attempt);
  const { timeMs = Number.POSITIVE_INFINITY } = remaining(
    { ...state, activeMs: stopwatch.activeMs() },
    limits,
  );
  const maxAttempts = limits.maxFailures;
  yield { type: "backoff.started", iteration: state.iterations, seconds, attempt, maxAttempts };
  await sleepUntilPaused(effects, Math.min(seconds * 1000, timeMs));
}

async function outcomeOf(run: Run, stop: Stop, settled: Settled): Promise<Outcome> {
  const { recipe, effects, state, stopwatch } = run;
  const { reason, message } = stop;
  const { iterations } = state;
  const files = await effects.changedFiles();
  const left = settled.unsettled;
  const words = [message, ...(left && message?.includes(left) ? [] : [left])].filter(
    (text) => text !== undefined,
  );
  return {
    success: isSuccess(reason),
    reason,
    exitCode: reason === "max_iterations" && recipe.endsAtLimit ? 0 : exitCodeOf(reason),
    iterations,
    ...spendingOf(state),
    durationMs: Math.round(stopwatch.activeMs()),
    filesChanged: files === null ? null : files.length,
    ...(files !== null && { files: files.slice(0, MAX_FILES) }),
    ...settled,
    ...baselineNow(state),
    ...(words.length > 0 && { message: words.join("; ") }),
    ...(reason === "blocked" && state.question && { question: state.question }),
    ...howItGoesOn(run, stop),
  };
}
