import { addSpending, charged, dearest, noSpending, priceOf, type Spending } from "../agents/spending.js";
import type * as Events from "../events.js";
import { isSuccess, stopRow } from "../stop-reasons.js";
import { addSpent, advanceIteration, type IterationReport } from "./iteration.js";
import { ESCALATED, limitedAfter, OWN_AGENT } from "./limited.js";

/**
 * Everything that is known of a run, for the loop and for every view: a fold over its events. It holds one iteration
 * at a time, and can begin at the last finished iteration of a journal: it is as small after 100,000 events.
 */
export interface RunState extends CarriedFields, Required<Omit<Events.Totals, "pricePerToken">> {
  run: string;
  recipe: string;
  agent: string;
  workspace: string;
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
  retries?: Events.IterationStarted["retries"] | undefined;
  /** What the iteration at work was told besides its prompt. */
  steering?: string | undefined;
  success: boolean;
  /** Agents that are left alone for a while, by their roles. */
  limited: Record<string, Events.LimitedAgent>;
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
  /** What the agent has answered and nobody has verified yet: it need not be asked again. */
  answer?:
    | Pick<
        Events.AgentFinished,
        "finalMessage" | "error" | "empty" | "stopped" | "costUsd" | "durationMs" | "steps" | "signedOut"
      >
    | undefined;
  /** Where its work was landed last, by the branch, as far as it went. */
  landings?: Record<string, Landing> | undefined;
  /** Its worktree and its branch were removed when it had landed. */
  isCleaned?: boolean | undefined;
  /** The last end of the run; it stays when the run is resumed. */
  finished?: Events.RunFinished | undefined;
  /** Of a run with several loops: each by its name. What the run has spent is what they have spent. */
  lanes?: Record<string, Lane> | undefined;
}

/** A loop of a run with several. */
export interface Lane
  extends Known<Events.LaneEvents["lane.started"], "title" | "slot" | "branch" | "worktree" | "base"> {
  state: RunState;
  /** Why the queue gave its work back the last time. */
  returned?: SentBack | undefined;
  /** What is to become of the branch of the run, and what has become of it when its work had landed. */
  landing?: (BranchTips & Partial<Pick<Events.LandingEvents["landing.started"], "checks">>) | undefined;
  landed?: (BranchTips & Pick<Events.LandingEvents["landing.landed"], "unverified">) | undefined;
  /** Why its work cannot be landed. */
  blocked?: string | undefined;
  /** What it waits for before it begins. */
  waits?: Events.LaneEvents["lane.waiting"] | undefined;
  /** Files in which it would conflict with other lanes at work. */
  overlaps?: Record<string, string[]> | undefined;
}

export type SentBack = Events.LaneEvents["lane.returned"] & {
  /** Iterations that the lane had then. */
  at: number;
  /** The same, or when a person last wanted it to go on. */
  since: number;
};

/** Where a branch stood before and after, and the commit that was landed. */
interface BranchTips {
  old: string;
  new: string;
  tip: string;
}

type Landing = Extract<Events.LoopEvent, { type: "landing.started" | "landing.landed" | "landing.refused" }>;

/** As the events that began the run, finished its last iteration and ended it tell it. */
type CarriedFields = Known<Events.RunStarted, "name" | "limits" | "background" | "parallel"> &
  Known<Events.IterationFinished, "failure" | "tree" | "memory" | "stop" | "question" | "baseline"> &
  Known<Events.RunFinished, "reason" | "message" | "limit">;
type Known<Event, Field extends keyof Event> = { [Name in Field]?: Event[Name] | undefined };

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

/** Around what was timed. */
const SLACK_MS = 10_000;

/** Takes one more event of a loop into its state, in place. The same live and on resume. */
export function advance(state: RunState, event: Events.LoopEvent): RunState {
  const seenBefore = state.lastSeenAt;
  state.lastSeenAt = event.ts;
  state.iteration = advanceIteration(state.iteration, event);
  if (event.type === "agent.event") {
    state.atWork = addSpending(state.atWork ?? noSpending(), event.event);
    return state;
  }
  const isGap = event.type === "run.resumed" || event.type === "lease.lost";
  addTime(state, event, isGap ? seenBefore : event.ts);
  return Object.assign(state, changes(state, event));
}

/** Adds the time at work since the last event. */
export function addTime(state: RunState, event: Events.LoopEvent, until: string): void {
  if (state.status === "running" && state.lastAt !== "") {
    const isTimed = event.type === "agent.finished" || event.type === "check.finished";
    // A clock that was set forward adds nothing to what a stopwatch has timed, nor does a machine that slept.
    const most = isTimed ? event.durationMs + SLACK_MS : Number.POSITIVE_INFINITY;
    // A clock that was set back does not take time away.
    state.activeMs += Math.min(Math.max(0, Date.parse(until) - Date.parse(state.lastAt)), most);
  }
  state.lastAt = event.ts;
}

function changes(state: RunState, event: Events.LoopEvent): Partial<RunState> {
  switch (event.type) {
    case "run.started": {
      const { name, recipe, agent, workspace, background, parallel } = event;
      const limits = limitsOfAll(event.limits, event);
      const asked = { agent, asked: agent, workspace, limits, background, parallel };
      return { name, recipe, ...asked, startedAt: event.ts };
    }
    case "run.resumed":
      return {
        ...{ ...resumed(state), asked: event.agent },
        limits: event.limits ? limitsOfAll(event.limits, state) : state.limits,
      };
    case "run.paused":
      return { status: "paused" };
    case "iteration.started": {
      // After a crash the iteration gets both its earlier words and those said since.
      const words = [state.steering, event.steering].filter((text) => text !== undefined);
      const steering = words.length === 0 ? undefined : words.join("\n\n");
      return { status: "running", retries: event.retries, tree: event.tree ?? state.tree, steering };
    }
    case "agent.started": {
      const { agent: asked, role = OWN_AGENT, allowanceUsd } = event;
      const isStronger = role === ESCALATED && event.attempt === 1;
      const strongerCalls = event.role === undefined ? 0 : state.strongerCalls + Number(isStronger);
      const calls = callBegun(state, event.ts);
      return { status: "running", role, asked, strongerCalls, atWork: noSpending(), allowanceUsd, calls };
    }
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
      const end = { reason, success, message, question, limit, finished: event, calls: undefined };
      return { ...end, status: "finished", ...(state.lanes && { baseline: event.baseline }) };
    }
    case "landing.started":
    case "landing.landed":
    case "landing.refused":
      return { landings: { ...state.landings, [event.into]: event } };
    case "landing.cleaned":
      return { isCleaned: true };
    case "baseline.finished":
      return { baseline: event.checks };
    case "check.finished": {
      const { iteration, command, passed: now, skipped } = event;
      const calls = callEnded(state);
      if (iteration === 0 || skipped !== undefined) return { calls };
      const baseline = state.baseline?.map((one) => (one.command === command ? { ...one, now } : one));
      return { baseline, calls };
    }
    case "scm.asked":
      pay(state, event.spent);
      return {};
    default:
      return {};
  }
}

/** Lanes that race have as many iterations each. */
export function limitsOfAll(
  limits: Events.Limits,
  { recipe, parallel = 1 }: Pick<RunState, "recipe" | "parallel">,
): Events.Limits {
  return recipe === "stories" ? limits : { ...limits, maxIterations: limits.maxIterations * parallel };
}

function callBegun({ calls }: RunState, ts: string): RunState["calls"] {
  return { since: calls?.since ?? ts, open: (calls?.open ?? 0) + 1 };
}

function callEnded({ calls }: RunState): RunState["calls"] {
  return calls === undefined || calls.open <= 1 ? undefined : { ...calls, open: calls.open - 1 };
}

function pay(state: RunState, payment: Omit<Events.CallSpending, "cacheWriteTokens">): void {
  addSpent(state, payment);
  state.pricePerToken = dearest(state.pricePerToken, priceOf(payment));
}

function answered({ role, limited }: RunState, event: Events.LoopEvent & Events.AgentFinished) {
  const { [role]: before, ...others } = limited;
  const now = limitedAfter(before, event, event.ts);
  // An agent that is limited, said nothing or was interrupted has not answered.
  const isAnswer = event.limit === undefined && !event.empty && event.stopped !== "interrupted";
  return {
    limited: now === undefined ? others : { ...others, [role]: now },
    answer: isAnswer ? event : undefined,
  };
}

function resumed(state: RunState): Partial<RunState> {
  // After a crash, what the agent had reported until then has been spent all the same.
  if (state.atWork !== undefined) pay(state, charged(state.atWork, state));
  // What a crash kept from being closed ends as it was decided; to resume what was closed is to want more.
  const isClosed = state.status === "finished";
  const isDecided = isSuccess(state.stop) || (!isClosed && stopRow(state.stop)?.resume !== "look");
  const isRetried = stopRow(state.reason)?.resume === "retry";
  return {
    ...(isRetried && { consecutiveFailures: 0, alike: 0, recent: [], escalated: false, limited: {} }),
    ...{ status: "running", calls: undefined, atWork: undefined, reason: undefined, question: undefined },
    // What cut the answer off was a limit of then; the limits of now decide.
    answer: state.answer && { ...state.answer, stopped: null },
    stop: isDecided ? state.stop : undefined,
    message: isClosed ? undefined : state.message,
  };
}

function finishedIteration(event: Events.IterationFinished): Partial<RunState> {
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
