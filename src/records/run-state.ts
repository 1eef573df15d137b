import { addSpending, charged, dearest, noSpending, priceOf, type Spending } from "../agents/spending.js";
import type {
  AgentFinished,
  AgentStarted,
  BaselineCheck,
  CallSpending,
  CheckFinished,
  IterationFinished,
  IterationStarted,
  Json,
  LimitedAgent,
  Limits,
  LoopEvent,
  Question,
  RunFinished,
  RunStarted,
  StopReason,
  Totals,
} from "../events.js";
import { isSuccess, stopRow } from "../stop-reasons.js";
import { addSpent, advanceIteration, type IterationReport } from "./iteration.js";
import { ESCALATED, limitedAfter, OWN_AGENT } from "./limited.js";

/**
 * Everything that is known of a run, for the loop and for every view: a fold over its events. It holds one iteration
 * at a time, and can begin at the last finished iteration of a journal: it is as small after 100,000 events.
 */
export interface RunState extends Required<Omit<Totals, "pricePerToken">> {
  run: string;
  recipe: string;
  agent: string;
  workspace: string;
  /** undefined: the journal has not begun. */
  limits?: Limits | undefined;
  /** Set when what agents and checks left running was left alone. */
  background?: RunStarted["background"] | undefined;
  status: "running" | "paused" | "waiting" | "finished";
  startedAt: string;
  /** The last event of ralph's own, and the last of all. */
  lastAt: string;
  lastSeenAt: string;
  /** Iterations that were finished. One that a crash cut off is run again. */
  iterations: number;
  /** The iteration at work, or the last one. Another iteration is another object. */
  iteration?: IterationReport | undefined;
  /** Of the iteration at work in a pipeline: how often its state was tried before, and how often it may be. */
  retries?: IterationStarted["retries"] | undefined;
  failure?: string | undefined;
  tree?: string | undefined;
  memory?: Json | undefined;
  /** What the iteration at work was told besides its prompt. */
  steering?: string | undefined;
  /** Decided by the last iteration, before the run was closed. */
  stop?: StopReason | undefined;
  reason?: StopReason | undefined;
  success: boolean;
  message?: string | undefined;
  /** What the agent wants to know from a human. */
  question?: Question | undefined;
  /** A limit that has to be raised to go on, though the run has ended for another reason. */
  limit?: StopReason | undefined;
  /** Agents that are left alone for a while, by their roles. */
  limited: Record<string, LimitedAgent>;
  /** Whose turn it is, or was last: its role, and what the user calls it. */
  role: string;
  asked: string;
  /** How often in a row the stronger model was asked. */
  strongerCalls: number;
  /** States of the files and how the checks failed in them, before the last one. */
  recent: string[];
  /** Whether the stronger model is asked. */
  escalated: boolean;
  /** Agents and checks that were started and have not ended: checks can run at the same time. */
  calls?: { since: string; open: number } | undefined;
  /** What the dearest token has cost. */
  pricePerToken?: number | undefined;
  /** What the agent at work has said of its spending so far. */
  atWork?: Spending | undefined;
  /** What it may spend; undefined: it never tells what it costs. */
  allowanceUsd?: number | null | undefined;
  /** The checks before the first iteration and now, where that was asked for. */
  baseline?: BaselineCheck[] | undefined;
  /** What the agent has answered and nobody has verified yet: it need not be asked again. */
  answer?: Answer | undefined;
  /** The last end of the run; it stays when the run is resumed. */
  finished?: RunFinished | undefined;
}

type Answer = Pick<
  AgentFinished,
  "finalMessage" | "error" | "empty" | "stopped" | "costUsd" | "durationMs" | "steps" | "signedOut"
>;

/** `crashed`: it is not closed, and no process works at it. */
export type RunStatus = RunState["status"] | "crashed";

export function initialState(run: string): RunState {
  return {
    ...{ run, recipe: "", agent: "", workspace: "", status: "running" },
    ...{ startedAt: "", lastAt: "", lastSeenAt: "" },
    ...{ iterations: 0, consecutiveFailures: 0, alike: 0, recent: [], escalated: false, success: false },
    ...{ costUsd: null, costEstimated: false, activeMs: 0 },
    ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 },
    ...{ limited: {}, role: OWN_AGENT, asked: "", strongerCalls: 0 },
  };
}

/** Takes one more event into the state, in place. The same live and on resume. */
export function advance(state: RunState, event: LoopEvent): RunState {
  const seenBefore = state.lastSeenAt;
  state.lastSeenAt = event.ts;
  state.iteration = advanceIteration(state.iteration, event);
  if (event.type === "agent.event") {
    state.atWork = addSpending(state.atWork ?? noSpending(), event.event);
    return state;
  }
  const until = event.type === "run.resumed" ? seenBefore : event.ts;
  if (state.status === "running") state.activeMs += Math.min(elapsed(state.lastAt, until), longest(event));
  state.lastAt = event.ts;
  return Object.assign(state, changes(state, event));
}

function changes(state: RunState, event: LoopEvent): Partial<RunState> {
  switch (event.type) {
    case "run.started": {
      const { recipe, agent, workspace, limits, background } = event;
      return { recipe, agent, asked: agent, workspace, limits, background, startedAt: event.ts };
    }
    case "run.resumed":
      return { ...resumed(state), asked: event.agent, limits: event.limits ?? state.limits };
    case "run.paused":
      return { status: "paused" };
    case "iteration.started":
      return {
        status: "running",
        retries: event.retries,
        tree: event.tree ?? state.tree,
        steering: joined(state.steering, event.steering),
      };
    case "agent.started":
      return {
        status: "running",
        role: event.role ?? OWN_AGENT,
        asked: event.agent,
        strongerCalls: strongerCalls(state, event),
        atWork: noSpending(),
        allowanceUsd: event.allowanceUsd,
        calls: callBegun(state, event.ts),
      };
    case "check.started":
      return { calls: callBegun(state, event.ts) };
    case "agent.finished":
      pay(state, event);
      return { ...answered(state, event), atWork: undefined, calls: callEnded(state) };
    case "limit.waiting":
      return { status: "waiting" };
    case "iteration.finished":
      return finishedIteration(event);
    case "run.finished": {
      const { reason, success, message, question, limit } = event;
      const end = { reason, success, message, question, limit, finished: event };
      return { ...end, status: "finished", calls: undefined };
    }
    case "baseline.finished":
      return { baseline: event.checks };
    case "check.finished":
      return { baseline: compared(state.baseline, event), calls: callEnded(state) };
    case "scm.asked":
      pay(state, event.spent);
      return {};
    default:
      return {};
  }
}

function callBegun({ calls }: RunState, ts: string): RunState["calls"] {
  return { since: calls?.since ?? ts, open: (calls?.open ?? 0) + 1 };
}

function callEnded({ calls }: RunState): RunState["calls"] {
  return calls === undefined || calls.open <= 1 ? undefined : { ...calls, open: calls.open - 1 };
}

function strongerCalls({ strongerCalls: before }: RunState, { role, attempt }: AgentStarted): number {
  if (role === undefined) return 0;
  return role === ESCALATED && attempt === 1 ? before + 1 : before;
}

function pay(state: RunState, payment: Omit<CallSpending, "cacheWriteTokens">): void {
  addSpent(state, payment);
  state.pricePerToken = dearest(state.pricePerToken, priceOf(payment));
}

function compared(
  baseline: RunState["baseline"],
  { iteration, command, passed, skipped }: CheckFinished,
): RunState["baseline"] {
  if (iteration === 0 || skipped !== undefined) return baseline;
  return baseline?.map((check) => (check.command === command ? { ...check, now: passed } : check));
}

/** An iteration that a crash cut off is told both what it was told then and what was said since. */
function joined(before: string | undefined, now: string | undefined): string | undefined {
  return before === undefined || now === undefined ? (now ?? before) : `${before}\n\n${now}`;
}

function answered({ role, limited }: RunState, event: LoopEvent & AgentFinished): Partial<RunState> {
  const { [role]: before, ...others } = limited;
  const now = limitedAfter(before, event, event.ts);
  // An agent that is limited, said nothing or was interrupted has not answered.
  const isAnswer = event.limit === undefined && !event.empty && event.stopped !== "interrupted";
  return {
    limited: now === undefined ? others : { ...others, [role]: now },
    answer: isAnswer ? event : undefined,
  };
}

/** After a crash, what the agent had reported until then has been spent all the same. */
function resumed(state: RunState): Partial<RunState> {
  if (state.atWork !== undefined) pay(state, charged(state.atWork, state));
  // What a crash kept from being closed ends as it was decided; whoever resumes what was closed wants more.
  const isClosed = state.status === "finished";
  const isDecided = isSuccess(state.stop) || (!isClosed && stopRow(state.stop)?.resume !== "look");
  const counters =
    stopRow(state.reason)?.resume === "retry"
      ? { consecutiveFailures: 0, alike: 0, recent: [], escalated: false, limited: {} }
      : {};
  return {
    ...counters,
    status: "running",
    calls: undefined,
    atWork: undefined,
    // What cut the answer off was a limit of then; the limits of now decide.
    answer: state.answer && { ...state.answer, stopped: null },
    stop: isDecided ? state.stop : undefined,
    reason: undefined,
    message: isClosed ? undefined : state.message,
    question: undefined,
  };
}

function finishedIteration(event: IterationFinished): Partial<RunState> {
  const { iteration: iterations, totals, failure, tree, memory, stop, reason, question } = event;
  const { costEstimated = false, cacheReadTokens = 0, pricePerToken } = totals;
  const { limited = {}, recent = [], escalated = false, baseline } = event;
  const message = isSuccess(stop) ? undefined : (event.diagnosis ?? reason);
  return {
    ...{ ...totals, costEstimated, cacheReadTokens, pricePerToken },
    ...{ status: "running", iterations, failure, tree, memory, stop, message, question },
    ...{ limited, recent, escalated, ...(baseline && { baseline }) },
    ...{ steering: undefined, calls: undefined, atWork: undefined, answer: undefined },
  };
}

/** Around what was timed. */
const SLACK_MS = 10_000;

/** A clock that was set forward adds nothing to what was timed by a stopwatch, nor does a machine that slept. */
function longest(event: LoopEvent): number {
  const isTimed = event.type === "agent.finished" || event.type === "check.finished";
  return isTimed ? event.durationMs + SLACK_MS : Number.POSITIVE_INFINITY;
}

/** A clock that was set back does not take time away. */
function elapsed(from: string, to: string): number {
  return from === "" ? 0 : Math.max(0, Date.parse(to) - Date.parse(from));
}

/** What a run has spent, as events tell it. */
export function spendingOf(state: RunState) {
  const { costUsd, costEstimated, inputTokens, outputTokens, cacheReadTokens } = state;
  return {
    costUsd,
    ...(costEstimated && { costEstimated: true as const }),
    inputTokens,
    outputTokens,
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
  };
}

/** Time at work until now, pauses and waits left out. `isRunning`: a process works at the run. */
export function activeMsUntil(
  now: number,
  { status, activeMs, lastAt }: RunState,
  isRunning: boolean,
): number {
  const since = isRunning && status === "running" ? now - Date.parse(lastAt) : 0;
  return activeMs + Math.max(0, since || 0);
}
