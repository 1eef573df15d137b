import { sumOfCosts } from "../agents/spending.js";
import type * as Events from "../events.js";
import type { IterationReport, OrNull, Spent } from "./iteration.js";
import { advanceRun, laneResults, loopOf } from "./lanes.js";
import { witnessOf } from "./result.js";
import { activeMsUntil, initialState, type RunState, type RunStatus, spendingOf } from "./run-state.js";
import { type SpecRecord, taskOf } from "./spec.js";

/** The result of a run, for people and programs: `ralph report --json` prints it as it is. */
export interface Report
  extends Spent,
    Required<Pick<Events.RunFinished, "success" | "filesChanged" | "files" | "worktree">>,
    OrNull<
      Events.RunFinished,
      "reason" | "exitCode" | "message" | "question" | "limit" | "unsettled" | "receipt" | "unproven"
    > {
  v: 1;
  run: string;
  /** What people call it; null: nothing, as in earlier releases. */
  name: string | null;
  recipe: string;
  /** What it was asked to do, or the file that says it. */
  task: string;
  agent: string;
  workspace: string;
  limits: Events.Limits;
  startedAt: string;
  /** When the last thing was recorded. */
  lastAt: string;
  status: RunStatus;
  /** Whether nothing can go on with it. */
  final: boolean;
  durationMs: number;
  /** Set when what agents and checks left running was left alone. */
  background?: "keep";
  /** The checks before the first iteration and now; empty without `--baseline`. */
  baseline: Events.BaselineCheck[];
  iterations: IterationReport[];
  /** What each story took, where the run worked on stories. */
  stories: StoryReport[];
  /** The branches that its work was landed in, and the commit of each. */
  landed?: { into: string; commit: string; unverified?: true | undefined }[];
  /** Of a run with several lanes: the branch that holds its result, and what became of each lane. */
  branch?: string;
  lanes?: Events.LaneResult[];
}

/** What the events of a run add up to: the state after the last one, and every iteration. */
export interface Fold {
  state: RunState;
  iterations: IterationReport[];
}

export function reportOf(
  run: string,
  spec: SpecRecord,
  status: RunStatus,
  events: Iterable<Events.LoopEvent>,
  now: Date,
): Report {
  const state = initialState(run);
  return reportFrom({ state, iterations: iterationsOf(state, events) }, spec, status, now);
}

export function reportFrom(
  { state, iterations }: Fold,
  spec: SpecRecord,
  status: RunStatus,
  now: Date,
): Report {
  const { run } = state;
  const { limits = spec.limits, background, lastSeenAt, baseline = [] } = state;
  const end: Partial<Events.RunFinished> = (state.reason && state.finished) ?? {};
  const { reason = null, success = false, exitCode = null } = end;
  const { message = null, question = null, limit = null, final = false } = end;
  // A run that was resumed still has the work of before.
  const { filesChanged = null, files = [], unsettled = null } = state.finished ?? {};
  const { worktree = null, branch } = (state.isCleaned ? undefined : state.finished) ?? {};
  const { receipt = null, unproven = null } = end;
  if (reason === null) setOpen(iterations, state, status === "running" ? now : undefined);
  return {
    ...{
      v: 1,
      run,
      name: spec.name ?? null,
      recipe: spec.recipe.kind,
      task: taskOf(spec),
      agent: spec.agent.name,
    },
    ...{ workspace: spec.workspace, limits, startedAt: spec.createdAt, status },
    lastAt: lastSeenAt || spec.createdAt,
    ...{ reason, success, exitCode, message, question, limit, final },
    ...spendingOf(state),
    durationMs: end.durationMs ?? Math.round(activeMsUntil(now.getTime(), state, status === "running")),
    ...{ filesChanged, files, worktree, unsettled, receipt, unproven },
    ...(background && { background }),
    baseline: baseline.map(({ command, before, now: passes }) => {
      return { command, before, now: passes, witness: witnessOf({ before, now: passes }) };
    }),
    iterations,
    stories: storiesOf(iterations),
    ...(branch !== undefined && { branch }),
    ...landedIn(state),
    ...(state.lanes && { lanes: end.lanes ?? laneResults(state) }),
  };
}

/** Of each loop only the newest iteration may still be at work; the end of one that was cut off nobody has told. */
function setOpen(iterations: IterationReport[], state: RunState, now: Date | undefined): void {
  const newest = new Map(iterations.map((iteration) => [iteration.lane, iteration]));
  for (const [lane, one] of newest) {
    const loop = (lane === undefined ? undefined : state.lanes?.[lane]?.state) ?? state;
    const until = now && loop.status === "running" ? now.getTime() : Date.parse(loop.lastSeenAt);
    const durationMs = Math.max(0, until - Date.parse(one.startedAt)) || 0;
    if (!one.finished) Object.assign(one, { durationMs, cutOff: loop.status === "finished" });
  }
}

function landedIn({ landings = {} }: RunState): Pick<Report, "landed"> {
  const landed = Object.values(landings)
    .flatMap((event) => (event.type === "landing.landed" ? [event] : []))
    .map(({ into, new: commit, unverified }) => ({ into, commit, unverified }));
  return landed.length > 0 ? { landed } : {};
}

/** Takes the events into the state and adds the iterations that they were about. */
export function iterationsOf(
  state: RunState,
  events: Iterable<Events.LoopEvent>,
  iterations: IterationReport[] = [],
): IterationReport[] {
  for (const event of events) {
    const { iteration } = loopOf(advanceRun(state, event), event);
    // Those of several lanes stand between each other.
    const last = iterations.findLast(({ lane }) => lane === event.lane);
    if (iteration !== undefined && iteration !== last) iterations.push(iteration);
  }
  return iterations;
}

/** Every check of a run by its command, in the order in which they first ran. */
export function checkCommands({ baseline, iterations }: Report): string[] {
  const all = [...baseline, ...iterations.flatMap(({ checks }) => checks)].map(({ command }) => command);
  return [...new Set(all)].slice(0, MAX_CHECKS);
}

/** More than that is no list that anybody reads. */
const MAX_CHECKS = 100;

/** Iterations that were verified. */
export function finishedIterations({ iterations }: Report): number {
  return iterations.filter(({ finished }) => finished).length;
}

/** What was spent on one story, and what came of it. */
export interface StoryReport {
  story: string;
  title: string;
  /** Where it stood when it last moved; null: it has not. */
  state: string | null;
  reviews: number;
  /** It was approved because the review cap was reached. */
  atCap: boolean;
  iterations: number;
  costUsd: number | null;
  durationMs: number;
  violations: number;
}

/** In the order in which they were first worked on. */
export function storiesOf(iterations: IterationReport[]): StoryReport[] {
  const stories = new Map<string, StoryReport>();
  for (const { states, about: planned, violations, ...spent } of iterations) {
    const about = states.find(({ story }) => story !== null)?.story ?? planned;
    if (about !== null) add(stories, about, { ...spent, iterations: 1, violations: violations.length });
    for (const { story, title, to: state, reviews, atCap } of states) {
      if (story === null) continue;
      Object.assign(storyIn(stories, story), { title: title ?? "", state, reviews: reviews ?? 0, atCap });
    }
  }
  return [...stories.values()];
}

/** What several runs spent on each story. */
export function addStories(reports: StoryReport[][]): Map<string, StoryReport> {
  const all = new Map<string, StoryReport>();
  for (const report of reports.flat()) add(all, report.story, report);
  return all;
}

function storyIn(stories: Map<string, StoryReport>, story: string): StoryReport {
  const known = stories.get(story) ?? {
    ...{ story, title: "", state: null, reviews: 0, atCap: false },
    ...{ iterations: 0, costUsd: null, durationMs: 0, violations: 0 },
  };
  stories.set(story, known);
  return known;
}

function add(
  stories: Map<string, StoryReport>,
  story: string,
  spent: Pick<StoryReport, "iterations" | "costUsd" | "durationMs" | "violations">,
): void {
  const sum = storyIn(stories, story);
  sum.iterations += spent.iterations;
  sum.durationMs += spent.durationMs;
  sum.violations += spent.violations;
  if (spent.costUsd !== null) sum.costUsd = sumOfCosts(sum.costUsd, spent.costUsd);
}
