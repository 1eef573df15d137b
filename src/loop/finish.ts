import type { IterationFinished, LimitedAgent, Limits, Question, StopReason, Totals } from "../events.js";
import { ESCALATED } from "../records/limited.js";
import { spendingOf } from "../records/payment.js";
import { baselineNow } from "./baseline.js";
import type { AgentRun } from "./effects.js";
import { limitReached } from "./limits.js";
import type { Verdict } from "./recipe.js";
import { isFallback, nameOf } from "./roles.js";
import { limitsOf, type Run } from "./run.js";
import { type Standstill, standstill, timesStuck } from "./stuck.js";
import { diagnosis } from "./stuck-words.js";

/** An iteration that was verified. */
export interface Judged {
  iteration: number;
  answer: AgentRun;
  verdict: Verdict;
  /** What the agent wants to know from a human. */
  asked: Question | undefined;
  durationMs: number;
  /** The state of the files before anything was verified, where it is known. */
  treeBefore: string | undefined;
}

/** What an iteration came to, and whether it ends the run. */
export async function finished(run: Run, judged: Judged): Promise<IterationFinished> {
  const { iteration, answer, verdict, durationMs } = judged;
  const { state, stopwatch } = run;
  const failed = answer.error !== null;
  const failure = failed ? undefined : verdict.failure;
  const tree = failure === undefined ? undefined : await treeFor(run);
  const made = judged.treeBefore ?? tree;
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
  const reason = reasonOf(judged);
  const question = verdict.stop === undefined ? judged.asked : undefined;
  return {
    type: "iteration.finished",
    iteration,
    passed: !failed && verdict.passed,
    reason,
    durationMs: Math.round(durationMs),
    claimedDone: verdict.claimedDone,
    totals,
    ...ending(run, { ...judged, totals, still, reason, tree: made }),
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

/** One that is down is only left alone where another one can be asked. */
function leftAlone({ state, options }: Run): Record<string, LimitedAgent> {
  const hasOthers = Object.keys(options.others ?? {}).some(isFallback);
  return Object.fromEntries(
    Object.entries(state.limited).filter(([, { kind }]) => kind === "limit" || hasOthers),
  );
}

/** A word for the state of the files, where somebody wants to know whether they change. */
export async function treeFor(run: Run): Promise<string | undefined> {
  const { tree, signals } = run.effects;
  if (limitsOf(run).stuckAfter === 0 || signals.stop.aborted) return undefined;
  const { content } = await tree.look();
  // A look that was stopped tells nothing.
  return signals.stop.aborted ? undefined : content;
}

function reasonOf({ answer, verdict, asked }: Judged): string {
  if (answer.error !== null) return `agent ${answer.stopped ? "stopped" : "failed"}: ${answer.error}`;
  if (asked === undefined || verdict.stop !== undefined) return verdict.reason;
  return `${asked.kind === "decide" ? "the agent asks" : "the agent is blocked"}: ${asked.text}`;
}

interface Counted extends Judged {
  totals: Totals;
  still: Standstill;
  reason: string;
  tree: string | undefined;
}

function ending(run: Run, counted: Counted): Pick<IterationFinished, "stop" | "diagnosis"> {
  const { verdict, asked, answer, totals, still, reason, tree } = counted;
  const { state } = run;
  const limits = limitsOf(run);
  const stop = verdict.stop ?? (asked && "blocked") ?? stopAfter(totals, answer, limits);
  if (stop !== undefined) return { stop };
  if (limitReached({ ...totals, iterations: counted.iteration }, limits) !== undefined) return {};
  if (timesStuck(still, limits) < (hasStronger(run) ? 2 : 1)) return {};
  const escalated = state.escalated ? nameOf(run, ESCALATED) : undefined;
  const isBackAndForth = tree !== state.tree;
  return { stop: "stuck", diagnosis: diagnosis(still, { isBackAndForth, reason, escalated }) };
}

function stopAfter(
  { consecutiveFailures }: Totals,
  { stopped, signedOut }: AgentRun,
  { maxFailures }: Limits,
): StopReason | undefined {
  if (stopped === "budget_exhausted" || stopped === "timeout") return stopped;
  return signedOut || consecutiveFailures >= maxFailures ? "agent_failed" : undefined;
}

function hasStronger({ options }: Run): boolean {
  return options.others?.[ESCALATED] !== undefined;
}

/** A run that is stuck gets the stronger model, until it fails in another way. */
function isEscalated(run: Run, still: Standstill, failure: string | undefined): boolean {
  if (failure === undefined || !hasStronger(run)) return false;
  if (timesStuck(still, limitsOf(run)) > 0) return true;
  return run.state.escalated && failure === run.state.failure;
}
