import type { IterationFinished, LimitedAgent, Question, StopReason, Totals } from "../events.js";
import { ESCALATED } from "../records/limited.js";
import { spendingOf } from "../records/run-state.js";
import { isFallback, nameOf } from "./ask.js";
import { baselineNow } from "./baseline.js";
import type { AgentRun } from "./effects.js";
import type { Verdict } from "./recipe.js";
import { limitReached, limitsOf, type Run } from "./run.js";
import { diagnosis, type Standstill, standstill, timesStuck } from "./stuck.js";

export interface Iteration {
  iteration: number;
  answer: AgentRun;
  verdict: Verdict;
  /** The agent's question for a human. */
  asked: Question | undefined;
  durationMs: number;
  /** The state of the files before verification, if known. */
  treeBefore: string | undefined;
}

/** The event that ends an iteration. It also says whether it ends the run. */
export async function finished(run: Run, work: Iteration): Promise<IterationFinished> {
  const { iteration, answer, verdict, durationMs } = work;
  const { state, stopwatch } = run;
  const failed = answer.error !== null;
  const failure = failed ? undefined : verdict.failure;
  const tree = failure === undefined ? undefined : await treeFor(run);
  const made = work.treeBefore ?? tree;
  const still = standstill(state, { failure, tree: made });
  const { alike, ...left } = still;
  const limited = leftAlone(run);
  const { pricePerToken } = state;
  const totals = {
    ...spendingOf(state),
    ...(pricePerToken !== undefined && { pricePerToken }),
    activeMs: Math.round(stopwatch.activeMs()),
    consecutiveFailures: failed ? state.consecutiveFailures + 1 : 0,
    alike,
  };
  const question = verdict.stop === undefined ? work.asked : undefined;
  return {
    type: "iteration.finished",
    iteration,
    passed: !failed && verdict.passed,
    reason: reasonOf(work),
    durationMs: Math.round(durationMs),
    claimedDone: verdict.claimedDone,
    totals,
    ...ending(run, work, totals, still, made !== state.tree),
    ...(question && { question }),
    ...(failure && { failure }),
    ...(tree && { tree }),
    ...left,
    ...(isEscalated(run, still, failure) && { escalated: true as const }),
    ...(Object.keys(limited).length > 0 && { limited }),
    ...(verdict.memory !== undefined && { memory: verdict.memory }),
    ...baselineNow(state),
  };
}

/** An identifier for the state of the files; undefined if the run does not ask whether they change. */
export async function treeFor(run: Run): Promise<string | undefined> {
  const { tree, signals } = run.effects;
  if (limitsOf(run).stuckAfter === 0 || signals.stop.aborted) return undefined;
  const { content } = await tree.read();
  // A reading that a signal cut off proves nothing.
  return signals.stop.aborted ? undefined : content;
}

/** The loop avoids an agent that is down only if another one can replace it. */
function leftAlone({ state, options }: Run): Record<string, LimitedAgent> {
  const hasOthers = Object.keys(options.others ?? {}).some(isFallback);
  return Object.fromEntries(
    Object.entries(state.limited).filter(([, { kind }]) => kind === "limit" || hasOthers),
  );
}

function reasonOf({ answer, verdict, asked }: Iteration): string {
  if (answer.error !== null) return `agent ${answer.stopped ? "stopped" : "failed"}: ${answer.error}`;
  if (asked === undefined || verdict.stop !== undefined) return verdict.reason;
  return `${asked.kind === "decide" ? "the agent asks" : "the agent is blocked"}: ${asked.text}`;
}

function ending(
  run: Run,
  { iteration, verdict, asked, answer }: Iteration,
  totals: Totals,
  still: Standstill,
  isBackAndForth: boolean,
): Pick<IterationFinished, "stop" | "diagnosis"> {
  const limits = limitsOf(run);
  const isLastFailure = totals.consecutiveFailures >= limits.maxFailures;
  const stop = verdict.stop ?? (asked && "blocked") ?? stopAfter(answer, isLastFailure);
  if (stop !== undefined) return { stop };
  // A limit that the same iteration reaches is the reason to stop.
  if (limitReached({ ...totals, iterations: iteration }, limits) !== undefined) return {};
  if (timesStuck(still, limits) < (hasStronger(run) ? 2 : 1)) return {};
  const escalated = run.state.escalated ? nameOf(run, ESCALATED) : undefined;
  // A run that is stuck has no question, and its agent did not fail.
  return { stop: "stuck", diagnosis: diagnosis(still, isBackAndForth, verdict.reason, escalated) };
}

function stopAfter({ stopped, signedOut }: AgentRun, isLastFailure: boolean): StopReason | undefined {
  if (stopped === "budget_exhausted" || stopped === "timeout") return stopped;
  return signedOut || isLastFailure ? "agent_failed" : undefined;
}

function hasStronger({ options }: Run): boolean {
  return options.others?.[ESCALATED] !== undefined;
}

/** A run that is stuck gets the stronger model until it fails in a new way. */
function isEscalated(run: Run, still: Standstill, failure: string | undefined): boolean {
  if (failure === undefined || !hasStronger(run)) return false;
  return timesStuck(still, limitsOf(run)) > 0 || (run.state.escalated && failure === run.state.failure);
}
