import { toRalphError } from "../errors.js";
import type {
  AgentStop,
  IterationFinished,
  Limits,
  LoopEvent,
  LoopEventBody,
  StopReason,
} from "../events.js";
import { isSuccess } from "../reasons.js";
import type { Recipe, Verdict } from "../recipes/recipe.js";
import { advance, type RunState } from "../state/run-state.js";
import { baselineNow, runBaseline, withBaseline } from "./baseline.js";
import type { AgentRequest, AgentRun, Effects, Settled } from "./effects.js";
import { backoffSeconds } from "./failures.js";
import { limitReached, remaining } from "./limits.js";
import { exitCodeOf, type Outcome } from "./outcome.js";
import { pausePoint, sleepUntilPaused } from "./pause.js";
import { type Stopwatch, startStopwatch } from "./stopwatch.js";
import { countAlike } from "./stuck.js";

export interface LoopOptions {
  limits: Limits;
  agent: string;
  /** Name of the variable with the agent's key, if one is set. */
  credentials: string | null;
  workspace: string;
}

/** Files that are named when a run ends; the others are only counted. */
const MAX_FILES = 500;

/** Times that an empty answer is asked for again. */
const EMPTY_RETRIES = 3;

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

interface Run {
  recipe: Recipe;
  effects: Effects;
  options: LoopOptions;
  /** Always up to date: every event is taken into it before the loop goes on. */
  state: RunState;
  stopwatch: Stopwatch;
}

type Events<Result> = AsyncGenerator<LoopEventBody, Result>;

async function* fromStartToFinish(given: Omit<Run, "stopwatch">): Events<Outcome> {
  const { recipe, effects, options, state } = given;
  if (state.startedAt === "") yield { type: "run.started", recipe: recipe.name, ...options };
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

function standing({ iterations, activeMs }: Pick<RunState, "iterations" | "activeMs">): {
  iterations: number;
  activeMs: number;
} {
  return { iterations, activeMs: Math.round(activeMs) };
}

interface Stop {
  reason: StopReason;
  message?: string | undefined;
}

async function* untilStopped(run: Run): Events<Stop> {
  try {
    const reason = yield* iterations(run);
    return { reason, message: reason === "interrupted" ? undefined : run.state.message };
  } catch (error) {
    const known = toRalphError(error);
    if (known === undefined) throw error;
    return { reason: "error", message: known.message };
  }
}

async function* iterations(run: Run): Events<StopReason> {
  const { recipe, effects, options, state, stopwatch } = run;
  yield* runBaseline(recipe, effects.signals, state);
  for (;;) {
    const reason = reasonToStop(run);
    if (reason !== undefined) return reason;
    const here = standing({ ...state, activeMs: stopwatch.activeMs() });
    stopwatch.skip(yield* pausePoint(effects, here, options.agent));
    if (effects.signals.stop.aborted) continue;
    yield* iteration(run);
    if (reasonToStop(run) === undefined && state.consecutiveFailures > 0) yield* backOff(run);
  }
}

function reasonToStop(run: Run): StopReason | undefined {
  const { effects, state, stopwatch } = run;
  if (effects.signals.stop.aborted) return "interrupted";
  return state.stop ?? limitReached({ ...state, activeMs: stopwatch.activeMs() }, limitsOf(run));
}

function limitsOf({ effects, options }: Run): Limits {
  return effects.limits?.() ?? options.limits;
}

/** An iteration counts when it was verified; one that was interrupted goes on where it was on resume. */
async function* iteration(run: Run): Events<void> {
  const { recipe, effects, state } = run;
  const { clock, signals } = effects;
  // The time of an answer that is only verified now belongs to the iteration, too.
  const begun = clock.elapsed() - (state.answer?.durationMs ?? 0);
  const number = state.iterations + 1;
  const { memory } = state;
  const { mode, about, ...question } = await recipe.plan({
    iteration: number,
    maxIterations: limitsOf(run).maxIterations,
    memory,
    answered: state.answer !== undefined,
    baseline: state.baseline,
  });
  const tree = number === 1 && recipe.verifies ? await treeFor(run) : undefined;
  // An answer that is only verified now was asked for before.
  const steering = state.answer === undefined ? effects.steering?.() : undefined;
  yield {
    type: "iteration.started",
    iteration: number,
    ...(mode && { mode }),
    ...(about && { about }),
    ...(tree && { tree }),
    ...(steering && { steering: steering.text }),
  };
  steering?.taken();

  const prompt = steered(withBaseline(question.prompt, state), state);
  const answer = state.answer ?? (yield* ask(run, number, { ...question, prompt }));
  if (signals.stop.aborted) return;
  const finalMessage = answer.error === null ? answer.finalMessage : "";
  const verdict = yield* recipe.verify({ ...answer, finalMessage }, { iteration: number, ...signals });
  if (verdict === undefined) return;
  yield await finished(run, number, answer, verdict, clock.elapsed() - begun);
}

/** What somebody said while the loop ran stands at the end, where it is read last. */
function steered(prompt: string, { steering }: RunState): string {
  return steering === undefined ? prompt : `${prompt}\n\n${steering}`;
}

/** Runs the agent; an empty answer is asked for again. */
async function* ask(
  run: Run,
  iteration: number,
  question: Pick<AgentRequest, "prompt" | "agent" | "isDone">,
): Events<AgentRun> {
  const { effects, state, stopwatch } = run;
  for (let attempt = 1; ; attempt += 1) {
    const used = { ...state, activeMs: stopwatch.activeMs() };
    const request = { ...question, iteration, attempt, remaining: remaining(used, limitsOf(run)) };
    const answer = yield* effects.runAgent(request);
    if (!answer.empty || effects.signals.stop.aborted) return answer;
    if (attempt > EMPTY_RETRIES) return { ...answer, error: `no answer, ${attempt} times in a row` };
  }
}

async function finished(
  run: Run,
  iteration: number,
  answer: AgentRun,
  verdict: Verdict,
  durationMs: number,
): Promise<IterationFinished> {
  const { state, stopwatch } = run;
  const failed = answer.error !== null;
  const failure = failed ? undefined : verdict.failure;
  const tree = failure === undefined ? undefined : await treeFor(run);
  const { costUsd, inputTokens, outputTokens } = state;
  const totals = {
    costUsd,
    inputTokens,
    outputTokens,
    activeMs: Math.round(stopwatch.activeMs()),
    consecutiveFailures: failed ? state.consecutiveFailures + 1 : 0,
    alike: countAlike(state, failure, tree),
  };
  const stop = verdict.stop ?? stopAfter(totals, answer.stopped, limitsOf(run));
  return {
    type: "iteration.finished",
    iteration,
    passed: !failed && verdict.passed,
    reason: failed ? `agent ${answer.stopped ? "stopped" : "failed"}: ${answer.error}` : verdict.reason,
    durationMs: Math.round(durationMs),
    claimedDone: verdict.claimedDone,
    totals,
    ...(stop && { stop }),
    ...(failure && { failure }),
    ...(tree && { tree }),
    ...(verdict.memory !== undefined && { memory: verdict.memory }),
    ...baselineNow(state),
  };
}

function stopAfter(
  { consecutiveFailures, alike }: IterationFinished["totals"],
  stopped: AgentStop | null,
  { maxFailures, stuckAfter }: Limits,
): StopReason | undefined {
  if (stopped === "budget_exhausted" || stopped === "timeout") return stopped;
  if (consecutiveFailures >= maxFailures) return "agent_failed";
  if (stuckAfter > 0 && alike >= stuckAfter) return "stuck";
  return undefined;
}

async function treeFor(run: Run): Promise<string | undefined> {
  return limitsOf(run).stuckAfter > 0 ? run.effects.fingerprint() : undefined;
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

async function outcomeOf(
  { recipe, effects, state, stopwatch }: Run,
  { reason, message }: Stop,
  settled: Settled,
): Promise<Outcome> {
  const { iterations, costUsd, inputTokens, outputTokens } = state;
  const files = await effects.changedFiles();
  const words = [message, settled.unsettled].filter((text) => text !== undefined);
  return {
    success: isSuccess(reason),
    reason,
    exitCode: reason === "max_iterations" && recipe.endsAtLimit ? 0 : exitCodeOf(reason),
    iterations,
    costUsd,
    inputTokens,
    outputTokens,
    durationMs: Math.round(stopwatch.activeMs()),
    filesChanged: files === null ? null : files.length,
    ...(files !== null && { files: files.slice(0, MAX_FILES) }),
    ...settled,
    ...baselineNow(state),
    ...(words.length > 0 && { message: words.join("; ") }),
  };
}
