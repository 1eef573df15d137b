import { toRalphError } from "../errors.js";
import type { LoopEvent, Outcome, RunFinished, StopReason } from "../events.js";
import { advance, type RunState, spendingOf } from "../records/run-state.js";
import { exitCodeOf, isSuccess } from "../stop-reasons.js";
import { type AgentCall, ask, questionIn } from "./ask.js";
import type { AgentRun, Effects, WorkLeft } from "./effects.js";
import { baselineNow, finished, runBaseline, stuckHint, treeFor, withBaseline } from "./finish.js";
import type { Recipe } from "./recipe.js";
import {
  budgetOf,
  type Events,
  type LoopOptions,
  limitReached,
  limitsOf,
  type Run,
  type Stop,
  startStopwatch,
  usedBy,
} from "./run.js";

/**
 * Plan the prompt, run the agent, verify, decide: repeat until there is a reason to stop. The loop continues
 * only after its consumer has taken the last event, so that ralph records each step before it takes the next.
 * `state` is a fresh state, or one read from a journal.
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
    // A caller that stops listening stops the agent, too.
    await bodies.return(undefined as never);
  }
}

async function* fromStartToFinish(given: Omit<Run, "stopwatch">): Events<Outcome> {
  const { recipe, effects, options, state } = given;
  const { others: _, ...told } = options;
  const { agent, limits } = options;
  if (state.startedAt === "") yield { type: "run.started", recipe: recipe.name, ...told };
  else yield { type: "run.resumed", ...standing(state), agent, limits, ...baselineNow(state) };
  const run = { ...given, stopwatch: startStopwatch(effects.clock, state.activeMs) };
  const stop = yield* untilStopped(run);
  const settled = yield* effects.settle(state.iterations);
  const proof = isSuccess(stop.reason) ? await effects.prove?.(state) : undefined;
  const outcome = { ...(await outcomeOf(run, stop, settled)), ...proof };
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
  const { effects, state } = run;
  yield* runBaseline(run);
  for (;;) {
    const reason = reasonToStop(run);
    if (reason !== undefined)
      return { reason, message: reason === "interrupted" ? undefined : state.message };
    yield* whilePaused(run);
    if (effects.signals.stop.aborted) continue;
    const stop = yield* iteration(run);
    if (typeof stop === "object") return stop;
    if (stop === "again") continue;
    if (reasonToStop(run) === undefined && state.consecutiveFailures > 0) yield* backOff(run);
  }
}

function reasonToStop(run: Run): StopReason | undefined {
  const { effects, state } = run;
  if (effects.signals.stop.aborted) return "interrupted";
  // Verify the answer of an earlier process before any limit counts, as that process would have done.
  if (state.answer !== undefined) return state.stop;
  return state.stop ?? limitReached(usedBy(run), limitsOf(run));
}

/** An iteration counts once it is verified; `ralph resume` continues an interrupted one. */
async function* iteration(run: Run): Events<Stop | "again" | undefined> {
  const { recipe, effects, state, stopwatch } = run;
  const { signals } = effects;
  // If an earlier process got the answer, the iteration includes that time.
  const begun = stopwatch.activeMs() - (state.answer?.durationMs ?? 0);
  const number = state.iterations + 1;
  const request = yield* begin(run, number);
  const answer = state.answer ?? (request === null ? NO_AGENT : yield* ask(run, number, request));
  if (answer === "again" || "reason" in answer) return answer;
  if (signals.stop.aborted) return undefined;
  const finalMessage = answer.error === null ? answer.finalMessage : "";
  // Checks decide nothing if the agent gave no answer.
  const decides = recipe.verifies && answer.error === null;
  // Checks may write files, too.
  const before = decides && state.tree !== undefined ? await effects.tree.read() : undefined;
  const tree = decides ? { ...effects.tree, before } : undefined;
  const asked = questionIn(finalMessage, request?.prompt ?? "");
  const context = { iteration: number, ...signals, tree, budget: budgetOf(run) };
  const verdict = yield* recipe.verify({ ...answer, finalMessage, asked }, context);
  // Resume verifies an interrupted success again, because files may change until then.
  if (verdict === undefined || (signals.stop.aborted && isSuccess(verdict.stop))) return undefined;
  const durationMs = stopwatch.activeMs() - begun;
  const treeBefore = before?.content;
  yield await finished(run, { iteration: number, answer, verdict, asked, durationMs, treeBefore });
  return undefined;
}

/** Plans an iteration and yields its first event. Returns the call to make; null: no call. */
async function* begin(run: Run, iteration: number): Events<AgentCall | null> {
  const { recipe, effects, state } = run;
  const { mode, about, changed, retries, prompt, checks, ...request } = await recipe.plan({
    iteration,
    maxIterations: limitsOf(run).maxIterations,
    memory: state.memory,
    answered: state.answer !== undefined,
    baseline: state.baseline,
  });
  const tree = iteration === 1 && recipe.verifies ? await treeFor(run) : undefined;
  // An earlier process asked for an answer that is only verified now.
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
  // What the user said while the loop ran comes last.
  const words = [withBaseline(prompt, state, checks), stuckHint(state, limitsOf(run)), state.steering];
  return { ...request, prompt: words.filter((text) => text !== undefined).join("\n\n") };
}

/** The answer when a plan has no prompt. */
const NO_AGENT: AgentRun = {
  ...{ finalMessage: "", error: null, empty: false, stopped: null, costUsd: null, durationMs: 0, steps: 0 },
};

const POLL_MS = 200;

/** Waits while the run is paused. A signal ends the wait; the time is not counted. */
async function* whilePaused({ effects, options, state, stopwatch }: Run): Events<void> {
  const { clock, signals } = effects;
  if (!effects.isPaused()) return;
  const since = clock.elapsed();
  const here = standing({ ...state, activeMs: stopwatch.activeMs() });
  yield { type: "run.paused", ...here };
  while (effects.isPaused() && !signals.stop.aborted) await clock.sleep(POLL_MS, signals.stop);
  if (!signals.stop.aborted) yield { type: "run.resumed", ...here, agent: options.agent };
  stopwatch.skip(clock.elapsed() - since);
}

function standing({ iterations, activeMs }: Pick<RunState, "iterations" | "activeMs">) {
  return { iterations, activeMs: Math.round(activeMs) };
}

const MAX_BACKOFF_SECONDS = 300;

/** Waits 1, 2, 4, 8 … seconds after a failure. A pause or a signal ends the wait. */
async function* backOff(run: Run): Events<void> {
  const { clock, signals, isPaused } = run.effects;
  const { iterations, consecutiveFailures: attempt } = run.state;
  const limits = limitsOf(run);
  const seconds = Math.min(2 ** (attempt - 1), MAX_BACKOFF_SECONDS);
  const { timeMs = Number.POSITIVE_INFINITY } = budgetOf(run).remaining;
  yield { type: "backoff.started", iteration: iterations, seconds, attempt, maxAttempts: limits.maxFailures };
  const until = clock.elapsed() + Math.min(seconds * 1000, timeMs);
  for (let left = until - clock.elapsed(); left > 0; left = until - clock.elapsed()) {
    if (isPaused() || signals.stop.aborted) return;
    await clock.sleep(Math.min(left, POLL_MS), signals.stop);
  }
}

/** How many files `run.finished` names; it counts the others. */
const MAX_FILES = 500;

async function outcomeOf(run: Run, stop: Stop, settled: WorkLeft): Promise<Outcome> {
  const { recipe, effects, state, stopwatch } = run;
  const { reason, message } = stop;
  const files = await effects.changedFiles();
  const left = settled.unsettled;
  const words = [message, ...(left && message?.includes(left) ? [] : [left])].filter(
    (text) => text !== undefined,
  );
  return {
    success: isSuccess(reason),
    reason,
    exitCode: reason === "max_iterations" && recipe.endsAtLimit ? 0 : exitCodeOf(reason),
    iterations: state.iterations,
    ...spendingOf(state),
    durationMs: Math.round(stopwatch.activeMs()),
    filesChanged: files === null ? null : files.length,
    ...(files !== null && { files: files.slice(0, MAX_FILES) }),
    ...settled,
    ...baselineNow(state),
    ...(words.length > 0 && { message: words.join("; ") }),
    ...(reason === "blocked" && state.question && { question: state.question }),
    ...forResume(run, stop),
  };
}

/** What resume must know beyond the reason to stop. */
function forResume(run: Run, { reason, isFinal }: Stop): Pick<RunFinished, "limit" | "final"> {
  if (isFinal) return { final: true };
  // Resume verifies an open answer first, whatever the limits say.
  if (isSuccess(reason) || run.state.answer !== undefined) return {};
  const limit = limitReached(usedBy(run), limitsOf(run));
  return limit === undefined || limit === reason ? {} : { limit };
}
