import { addEvent, emptyReport, type Report } from "../agents/report.js";
import { charged } from "../agents/spending.js";
import type {
  AgentFinished,
  BaselineCheck,
  CheckFinished,
  IterationFinished,
  Json,
  LimitedAgent,
  LoopEvent,
  Question,
  StopReason,
  Totals,
} from "../events.js";
import { isSuccess, stopRow } from "../stop-reasons.js";
import { begun, type Calls, ended } from "./calls.js";
import { limitedAfter, OWN_AGENT } from "./limited.js";
import { paid } from "./payment.js";

/** Everything that is known of a run: a fold over its journal. */
export interface RunState extends Required<Omit<Totals, "pricePerToken">> {
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
  failure: string | undefined;
  tree: string | undefined;
  memory: Json | undefined;
  /** What the iteration at work was told besides its prompt. */
  steering: string | undefined;
  /** Decided by the last iteration, before the run was closed. */
  stop: StopReason | undefined;
  reason: StopReason | undefined;
  success: boolean;
  message: string | undefined;
  /** What the agent wants to know from a human. */
  question: Question | undefined;
  /** A limit that has to be raised to go on, though the run has ended for another reason. */
  limit: StopReason | undefined;
  /** Agents that are left alone for a while, by their roles. */
  limited: Record<string, LimitedAgent>;
  /** Whose turn it is, or was last. */
  role: string;
  /** States of the files and how the checks failed in them, before the last one. */
  recent: string[];
  /** Whether the stronger model is asked. */
  escalated: boolean;
  /** Agents and checks at work. */
  calls: Calls | undefined;
  /** What the dearest token has cost. */
  pricePerToken: number | undefined;
  /** What the agent at work has said of its spending so far. */
  atWork: Report | undefined;
  /** What it may spend; undefined: it never tells what it costs. */
  allowanceUsd: number | null | undefined;
  /** The checks before the first iteration and now, where that was asked for. */
  baseline: BaselineCheck[] | undefined;
  /** What the agent has answered and nobody has verified yet: it need not be asked again. */
  answer: Answered | undefined;
}

type Answered = Pick<
  AgentFinished,
  "finalMessage" | "error" | "empty" | "stopped" | "costUsd" | "durationMs" | "steps" | "signedOut"
>;

export function initialState(run: string): RunState {
  return {
    run,
    recipe: "",
    agent: "",
    workspace: "",
    status: "running",
    startedAt: "",
    lastAt: "",
    lastSeenAt: "",
    iterations: 0,
    costUsd: null,
    costEstimated: false,
    pricePerToken: undefined,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    activeMs: 0,
    consecutiveFailures: 0,
    alike: 0,
    failure: undefined,
    tree: undefined,
    memory: undefined,
    steering: undefined,
    stop: undefined,
    reason: undefined,
    success: false,
    message: undefined,
    question: undefined,
    limit: undefined,
    limited: {},
    role: OWN_AGENT,
    recent: [],
    escalated: false,
    calls: undefined,
    atWork: undefined,
    allowanceUsd: undefined,
    baseline: undefined,
    answer: undefined,
  };
}

/** Takes one more event into the state. The same live and on resume. */
export function advance(state: RunState, event: LoopEvent): RunState {
  const seenBefore = state.lastSeenAt;
  state.lastSeenAt = event.ts;
  if (event.type === "agent.event") {
    state.atWork = addEvent(state.atWork ?? emptyReport(), event.event);
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
      const { recipe, agent, workspace } = event;
      return { recipe, agent, workspace, startedAt: event.ts };
    }
    case "run.resumed":
      return resumed(state);
    case "run.paused":
      return { status: "paused" };
    case "iteration.started":
      return {
        status: "running",
        tree: event.tree ?? state.tree,
        steering: joined(state.steering, event.steering),
      };
    case "agent.started":
      return {
        status: "running",
        role: event.role ?? OWN_AGENT,
        atWork: emptyReport(),
        allowanceUsd: event.allowanceUsd,
        ...begun(state, event),
      };
    case "check.started":
      return begun(state, event);
    case "agent.finished":
      return { ...paid(state, event), ...heard(state, event), atWork: undefined, ...ended(state) };
    case "limit.waiting":
      return { status: "waiting" };
    case "iteration.finished":
      return finishedIteration(event);
    case "run.finished": {
      const { reason, success, message, question, limit } = event;
      return { status: "finished", reason, success, message, question, limit, calls: undefined };
    }
    case "baseline.finished":
      return { baseline: event.checks };
    case "check.finished":
      return { baseline: compared(state.baseline, event), ...ended(state) };
    case "scm.asked":
      return paid(state, event.spent);
    case "scm.finished":
    case "agent.event":
    case "gate.finished":
    case "state.changed":
    case "violation":
    case "locks.removed":
    case "backoff.started":
      return {};
  }
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

/** Whoever is limited has not answered. */
function heard({ role, limited }: RunState, event: LoopEvent & AgentFinished): Partial<RunState> {
  const { [role]: before, ...others } = limited;
  const now = limitedAfter(before, event, event.ts);
  return {
    limited: now === undefined ? others : { ...others, [role]: now },
    answer: event.limit === undefined ? answerIn(event) : undefined,
  };
}

function answerIn({
  finalMessage,
  error,
  empty,
  stopped,
  costUsd,
  durationMs,
  steps,
  signedOut,
}: AgentFinished): RunState["answer"] {
  if (empty || stopped === "interrupted") return undefined;
  const answer = { finalMessage, error, empty, stopped, costUsd, durationMs, steps };
  return { ...answer, ...(signedOut && { signedOut }) };
}

/** After a crash, what the agent had reported until then has been spent all the same. */
function resumed(state: RunState): Partial<RunState> {
  const cutOff = state.atWork === undefined ? {} : paid(state, charged(state.atWork, state));
  // What a crash kept from being closed ends as it was decided; whoever resumes what was closed wants more.
  const isClosed = state.status === "finished";
  const isDecided = isSuccess(state.stop) || (!isClosed && stopRow(state.stop)?.resume !== "look");
  const counters =
    stopRow(state.reason)?.resume === "retry"
      ? { consecutiveFailures: 0, alike: 0, recent: [], escalated: false, limited: {} }
      : {};
  return {
    ...cutOff,
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
  const { iteration, totals, failure, tree, memory, stop, reason, question } = event;
  const message = isSuccess(stop) ? undefined : (event.diagnosis ?? reason);
  return {
    ...totals,
    costEstimated: totals.costEstimated ?? false,
    pricePerToken: totals.pricePerToken,
    cacheReadTokens: totals.cacheReadTokens ?? 0,
    status: "running",
    question,
    limited: event.limited ?? {},
    recent: event.recent ?? [],
    escalated: event.escalated ?? false,
    iterations: iteration,
    failure,
    tree,
    memory,
    steering: undefined,
    stop,
    message,
    calls: undefined,
    atWork: undefined,
    answer: undefined,
    ...(event.baseline && { baseline: event.baseline }),
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
