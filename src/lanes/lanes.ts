import { spent, sumOfCosts } from "../agents/spending.js";
import { toRalphError } from "../errors.js";
import type { AgentStop, Limits, LoopEvent, LoopEventBody, Outcome } from "../events.js";
import type { Clock, Effects, Signals } from "../loop/effects.js";
import type { LoopOptions } from "../loop/run.js";
import { addLane, advanceRun, laneOf } from "../records/lanes.js";
import { activeMsUntil, type Lane, type RunState } from "../records/run-state.js";
import { endOf, type LanesEnding } from "./end.js";
import { createSlots, createStreams } from "./streams.js";

/** What a lane begins with. */
export interface LaneStart {
  lane: string;
  title?: string | undefined;
  /** The id of its story. */
  story?: string | undefined;
  branch: string;
  worktree: string;
  base: string;
}

/** A loop that runs in a lane. */
interface LaneLoop {
  events: AsyncGenerator<LoopEvent, Outcome>;
  around(event: LoopEvent): Iterable<LoopEvent>;
  close(): Promise<void>;
}

/** What a loop in a lane is given by the run. */
export interface LaneHost {
  slot: number;
  signals: Signals;
  limits: NonNullable<Effects["limits"]>;
  /** Called when the worktree is there, before the loop begins. */
  begin(): Promise<void>;
}

/** Events of a lane, without what is the same for all. */
export type LaneStream<Result> = AsyncGenerator<LoopEventBody, Result>;

/** What the lanes are for: a list of stories, or a race. */
export interface LaneWork {
  /** Each lane may use all iterations of the run. */
  ownIterations?: boolean;
  /** Called once, before anything begins. Tells the lane with each event. */
  prepare?(): AsyncGenerator<[lane: string, event: LoopEventBody], void>;
  /** Lanes that may begin, or go on, the first one first; `waiting`: those that may not yet, and are not known to. */
  ready(): { starts: LaneStart[]; waiting: [lane: string, event: LoopEventBody][] };
  /** Called before the loop of a lane begins in its worktree. */
  begin?(lane: string): Promise<void>;
  /** A lane has finished an iteration. */
  looked?(lane: string): LaneStream<void>;
  /** The loop of a lane has succeeded. "again": the lane goes on. */
  succeeded(lane: string): LaneStream<"again" | undefined>;
  /** Whether all is done that was asked for. */
  isDone(): boolean;
  /** `proof`: the records with the receipt of its result. */
  ending(): Promise<LanesEnding & { proof?: string | undefined }>;
}

export interface LanesSetup {
  recipe: string;
  options: LoopOptions;
  parallel: number;
  work: LaneWork;
  clock: Clock;
  signals: Signals;
  isPaused(): boolean;
  limits?: Effects["limits"] | undefined;
  /** Aborted: the lane has to end, and its agent with it. */
  ended(lane: string): AbortSignal;
  open(start: LaneStart, lane: Lane, host: LaneHost): Promise<LaneLoop>;
  /** Keeps the proof in those records as that of the run. */
  prove(records: string | undefined): Pick<Outcome, "receipt" | "unproven">;
}

/** Several loops at work. */
interface Running extends LanesSetup {
  state: RunState;
  streams: ReturnType<typeof createStreams<LoopEvent>>;
  slots: ReturnType<typeof createSlots>;
  /** Lanes that were begun in this process. */
  begun: Set<string>;
  /** Aborted when the limits of the run are used up. */
  over: AbortController;
  /** Aborted when the caller stops listening. */
  gone: AbortController;
}

/**
 * Several loops as one run: one stream of events, one set of limits, one end. A lane goes on only when its last event
 * was taken; the others do not wait for it.
 */
export async function* runLanes(setup: LanesSetup, state: RunState): AsyncGenerator<LoopEvent, Outcome> {
  const { work, signals } = setup;
  const run: Running = {
    ...{ ...setup, state, streams: createStreams<LoopEvent>(), slots: createSlots(setup.parallel) },
    ...{ begun: new Set(), over: new AbortController(), gone: new AbortController() },
  };
  yield eventOf(run, opening(run));
  for await (const [lane, event] of work.prepare?.() ?? []) yield eventOf(run, event, lane);
  try {
    yield* untilAllEnded(run);
  } finally {
    // A caller that stops listening stops the agents, too.
    run.gone.abort();
    await run.streams.close();
  }
  const { proof, ...ending } = await work.ending();
  const end: Outcome = {
    ...endOf(state, { isDone: work.isDone(), isStopped: signals.stop.aborted, ...ending }),
    ...(work.isDone() && setup.prove(proof)),
  };
  yield eventOf(run, { type: "run.finished", ...end });
  return end;
}

/** The event with what is the same for all; it is taken into the state. */
function eventOf({ state, clock }: Running, body: LoopEventBody, lane?: string): LoopEvent {
  const ts = clock.now().toISOString();
  const own = { v: 1 as const, type: body.type, ts, run: state.run, ...(lane !== undefined && { lane }) };
  const event: LoopEvent = Object.assign(own, body);
  advanceRun(state, event);
  return event;
}

function opening({ state, recipe, options, parallel }: Running): LoopEventBody {
  const { others: _, ...shown } = options;
  if (state.startedAt === "") return { type: "run.started", recipe, ...shown, parallel };
  return { type: "run.resumed", ...standing(state), agent: options.agent, limits: options.limits };
}

function standing({ iterations, activeMs }: RunState) {
  return { iterations, activeMs: Math.round(activeMs) };
}

/** Whether a lane works at nothing while the run is paused: it is paused, too, or waits for a slot. */
function isAtRest({ state: { status, startedAt, success } }: Lane): boolean {
  return status === "paused" || startedAt === "" || (status === "finished" && !success);
}

const LOOK_MS = 200;

async function* untilAllEnded(run: Running): AsyncGenerator<LoopEvent, void> {
  const { work, streams, slots, signals, over, state, clock } = run;
  const pauses = pausesOf(run);
  for (;;) {
    const isEnding = signals.stop.aborted || over.signal.aborted;
    if (!isEnding && slots.areFree() && !run.isPaused()) yield* beginReady(run);
    const isHeld = run.isPaused() && !isEnding && !work.isDone();
    if (streams.size() === 0 && !isHeld) return;
    if (!isEnding) yield* pauses(isHeld);
    const arrived = await streams.next(LOOK_MS);
    const passed = passedLimit(limitsOf(run), loopsIn(state), clock.now().getTime());
    if (passed !== undefined) over.abort(passed);
    if (arrived === undefined) continue;
    yield arrived.event;
    streams.goOn(arrived.name);
  }
}

/** The run is paused when all of its lanes are at rest, until it is held no more. */
function pausesOf(run: Running) {
  const { state, streams, options } = run;
  let isPaused = false;
  return function* (isHeld: boolean): Generator<LoopEvent, void> {
    if (isPaused ? isHeld : !(isHeld && streams.names().every((lane) => isAtRest(laneOf(state, lane)))))
      return;
    isPaused = isHeld;
    if (isPaused) yield eventOf(run, { type: "run.paused", ...standing(state) });
    else yield eventOf(run, { type: "run.resumed", ...standing(state), agent: options.agent });
  };
}

function* beginReady(run: Running): Generator<LoopEvent, void> {
  const { work, streams, slots, begun } = run;
  const { starts, waiting } = work.ready();
  for (const start of starts.filter(({ lane }) => !begun.has(lane))) {
    if (!slots.areFree()) break;
    begun.add(start.lane);
    streams.add(start.lane, guarded(run, start));
  }
  for (const [lane, event] of waiting) yield eventOf(run, event, lane);
}

/** A lane that cannot be made is no reason to end the others. */
async function* guarded(run: Running, start: LaneStart): AsyncGenerator<LoopEvent, void> {
  try {
    yield* life(run, start);
  } catch (error) {
    const failure = toRalphError(error);
    if (failure === undefined) throw error;
    yield eventOf(run, { type: "lane.blocked", message: failure.message }, start.lane);
  }
}

/** From its first iteration until its work is where it has to be, or nothing more can be done. */
async function* life(run: Running, start: LaneStart): AsyncGenerator<LoopEvent, void> {
  const { slots, signals, over, gone, work, state } = run;
  const { lane, title, branch, worktree, base } = start;
  const known = laneOf(state, lane);
  do {
    const slot = await slots.take();
    try {
      if ([signals.stop, over.signal, gone.signal].some(({ aborted }) => aborted)) return;
      if (!known.state.success) {
        const named = title === undefined ? {} : { title };
        yield eventOf(run, { type: "lane.started", slot, branch, worktree, base, ...named }, lane);
        yield* loopIn(run, start, slot);
      }
    } finally {
      slots.give(slot);
    }
  } while (known.state.success && (yield* inLane(run, lane, work.succeeded(lane))) === "again");
}

async function* loopIn(run: Running, start: LaneStart, slot: number): AsyncGenerator<LoopEvent, void> {
  const { work, state, signals, over, gone, clock } = run;
  const { lane } = start;
  const known = laneOf(state, lane);
  const either = (signal: AbortSignal): AbortSignal =>
    AbortSignal.any([signal, gone.signal, run.ended(lane)]);
  const loop = await run.open(start, known, {
    slot,
    begin: async () => work.begin?.(lane),
    signals: { stop: either(signals.stop), kill: either(signals.kill), over: over.signal },
    limits: () => shareOf(limitsOf(run), loopsIn(state, lane), clock.now().getTime(), work.ownIterations),
  });
  try {
    for (;;) {
      const step = await loop.events.next();
      if (step.done) return;
      for (const event of loop.around(step.value)) {
        addLane(state, known, Object.assign(event, { lane }));
        yield event;
        if (event.type === "iteration.finished" && work.looked) yield* inLane(run, lane, work.looked(lane));
      }
    }
  } finally {
    await loop.close();
  }
}

async function* inLane<Result>(
  run: Running,
  lane: string,
  events: LaneStream<Result>,
): AsyncGenerator<LoopEvent, Result> {
  let step = await events.next();
  for (; !step.done; step = await events.next()) yield eventOf(run, step.value, lane);
  return step.value;
}

function limitsOf({ limits, options }: Running) {
  return limits?.() ?? options.limits;
}

function loopsIn({ lanes = {} }: RunState, but?: string): RunState[] {
  return Object.entries(lanes).flatMap(([name, { state }]) => (name === but ? [] : [state]));
}

/** What loops have used of the limits that they share, with what their agents at work have told so far. */
function usedBy(loops: RunState[], now: number) {
  const used = { iterations: 0, costUsd: 0, tokens: 0, timeMs: 0 };
  for (const loop of loops) {
    const { costUsd, inputTokens, outputTokens, iterations, iteration } = loop;
    const atWork = loop.atWork && spent(loop.atWork);
    used.costUsd = sumOfCosts(used.costUsd, sumOfCosts(costUsd, atWork?.costUsd));
    used.tokens += inputTokens + outputTokens + (atWork?.inputTokens ?? 0) + (atWork?.outputTokens ?? 0);
    used.timeMs += activeMsUntil(now, loop, loop.startedAt !== "");
    // One that is begun will be finished.
    const isBegun = iteration?.finished === false && loop.status !== "finished";
    used.iterations += iterations + Number(isBegun);
  }
  return used;
}

/** The limits of one loop: what the others leave of those of the run. Lanes that race have their own iterations. */
export function shareOf(limits: Limits, others: RunState[], now: number, ownIterations = false): Limits {
  const used = usedBy(others, now);
  const left = (limit: number | null, amount: number): number | null =>
    limit === null ? null : limit - amount;
  return {
    ...limits,
    maxIterations: limits.maxIterations - (ownIterations ? 0 : used.iterations),
    maxCostUsd: left(limits.maxCostUsd, used.costUsd),
    maxTokens: left(limits.maxTokens, used.tokens),
    maxTimeMs: left(limits.maxTimeMs, used.timeMs),
  };
}

/** Why all agents have to be ended; undefined: they may go on. */
export function passedLimit(limits: Limits, loops: RunState[], now: number): AgentStop | undefined {
  const { maxCostUsd, maxTokens, maxTimeMs } = limits;
  if ((maxCostUsd ?? maxTokens ?? maxTimeMs) === null) return undefined;
  const { costUsd, tokens, timeMs } = usedBy(loops, now);
  const isPassed = (limit: number | null, amount: number): boolean => limit !== null && amount > limit;
  if (isPassed(maxCostUsd, costUsd) || isPassed(maxTokens, tokens)) return "budget_exhausted";
  return isPassed(maxTimeMs, timeMs) ? "timeout" : undefined;
}
