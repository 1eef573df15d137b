import type { LaneResult, LoopEvent, StopReason } from "../events.js";
import { addSpent, type Spent } from "./iteration.js";
import { addTime, advance, initialState, type Lane, type RunState } from "./run-state.js";

/** Takes one more event of a run into its state, in place: of its loop, or of one of its lanes. */
export function advanceRun(state: RunState, event: LoopEvent): RunState {
  if (event.lane === undefined) return advance(state, event);
  const lane = laneOf(state, event.lane);
  if (!event.type.startsWith("lane.")) advance(lane.state, event);
  return addLane(state, lane, event);
}

/** The lane of that name; a new one where there is none. */
export function laneOf(state: RunState, name: string): Lane {
  state.lanes ??= {};
  state.lanes[name] ??= { state: initialState(state.run) };
  return state.lanes[name];
}

/** The loop that an event is about. */
export function loopOf(state: Readonly<RunState>, { lane }: LoopEvent): Readonly<RunState> {
  return (lane !== undefined && state.lanes?.[lane]?.state) || state;
}

/** Takes an event of a lane into the run. The loop in the lane has taken it already. */
export function addLane(state: RunState, lane: Lane, event: LoopEvent): RunState {
  state.lastSeenAt = event.ts;
  if (event.type === "agent.event") return state;
  addTime(state, event, event.ts);
  Object.assign(lane, changes(lane, event));
  const loops = Object.values(state.lanes ?? {}).map((one) => one.state);
  shareLimit(loops, lane.state, event);
  const spent: Spent = { costUsd: null, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 };
  for (const one of loops) addSpent(spent, one);
  const iterations = loops.reduce((sum, one) => sum + one.iterations, 0);
  const begun = loops.flatMap(({ calls }) => (calls === undefined ? [] : [calls.since])).sort();
  const calls = begun[0] === undefined ? undefined : { since: begun[0], open: begun.length };
  return Object.assign(state, { ...spent, iterations, calls, status: statusOf(loops) });
}

/** The limit of an agent holds for every lane that asks it. */
function shareLimit(loops: RunState[], { agent, role, limited }: RunState, { type }: LoopEvent): void {
  const entry = limited[role];
  if (type !== "agent.finished" || entry?.kind !== "limit") return;
  for (const one of loops) if (one.agent === agent) one.limited = { ...one.limited, [role]: entry };
}

function statusOf(loops: RunState[]): RunState["status"] {
  const isOpen = ({ status, startedAt }: RunState): boolean => startedAt !== "" && status !== "finished";
  const open = loops.filter(isOpen).map(({ status }) => status);
  if (open.length === 0 || open.includes("running")) return "running";
  return open.includes("waiting") ? "waiting" : "paused";
}

function changes({ state, returned, overlaps }: Lane, event: LoopEvent): Partial<Lane> {
  switch (event.type) {
    case "lane.started": {
      const { title, slot, branch, worktree, base } = event;
      return { title, slot, branch, worktree, base, blocked: undefined, waits: undefined };
    }
    case "lane.waiting":
      return { waits: event };
    case "lane.blocked":
      return { blocked: event.message };
    case "lane.overlaps":
      return { overlaps: { ...overlaps, [event.with]: event.files } };
    case "lane.returned":
      // What was done is not done any more.
      Object.assign(state, { success: false, stop: undefined, reason: undefined });
      return { returned: { ...event, at: state.iterations, since: state.iterations } };
    case "run.resumed":
      // A person wants it to try again.
      return returned === undefined ? {} : { returned: { ...returned, since: state.iterations } };
    case "landing.started":
      return { landing: { old: event.old, new: event.new, tip: event.tip, checks: event.checks } };
    case "landing.landed":
      return { landed: event };
    case "landing.cleaned":
      return { worktree: undefined };
    default:
      return {};
  }
}

/** What became of each lane, or has become of it so far. */
export function laneResults({ lanes = {} }: Readonly<RunState>): LaneResult[] {
  return Object.entries(lanes).map(
    ([lane, { state, title, blocked, waits, branch = "", worktree, ...one }]) => {
      const isLanded = one.landed !== undefined;
      const why = blocked ?? (state.success ? undefined : (state.message ?? waits?.file));
      const message = isLanded ? one.landed?.unverified && "nothing verified it" : why;
      return {
        ...{ lane, ...(title !== undefined && { title }), result: resultOf(state, isLanded, blocked) },
        ...(message !== undefined && { message }),
        ...{ branch, worktree: isLanded ? null : (worktree ?? null) },
        ...{ iterations: state.iterations, costUsd: state.costUsd },
      };
    },
  );
}

function resultOf(state: RunState, isLanded: boolean, blocked: string | undefined): LaneResult["result"] {
  if (isLanded) return "landed";
  if (blocked !== undefined || state.reason === "blocked") return "blocked";
  if (state.success) return "passed";
  if (state.startedAt === "") return "waiting";
  return STOPPED.has(state.reason ?? "interrupted") ? "stopped" : "failed";
}

/** Nothing is wrong with what was done until then. */
const STOPPED = new Set<StopReason>(["interrupted", "max_iterations", "budget_exhausted", "timeout"]);
