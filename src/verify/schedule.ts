import { setMaxListeners } from "node:events";
import type { CheckFinished, LoopEventBody } from "../events.js";
import type { Tree } from "../tree.js";
import { onOneTree } from "./one-tree.js";

/** A check that is to be run. */
export interface Job {
  command: string;
  /** Patterns of the files that it depends on, where they are known. */
  inputs?: readonly string[] | undefined;
  run(kill: AbortSignal): Promise<CheckFinished>;
  /** Called when it passed on a tree that is not there any more. */
  isVoid?(why: string): void;
}

/** In which order, how many at a time, and which not at all. */
export interface Schedule {
  parallel: number;
  /** No more are started when one has failed. */
  failFast: boolean;
  /** The jobs by their places, as they are to be started. */
  order(jobs: Job[]): number[];
  /** Whether it would pass as it did the last time. */
  isUnchanged(job: Job): Promise<boolean>;
  /** Told what came of all of them. */
  learn(jobs: Job[], results: CheckFinished[]): void;
}

export interface Turn {
  iteration: number;
  /** Aborted: start nothing more. */
  stop: AbortSignal;
  kill: AbortSignal;
  /** The workspace, where it has to be the same before the first check and after the last. */
  tree?: Tree | undefined;
}

type Events<Result> = AsyncGenerator<LoopEventBody, Result>;

/**
 * All of them, as scheduled; the results are in the order of the jobs. undefined: a signal came first. They
 * judge one tree: what they passed on is there when they have ended.
 */
export async function* runJobs(
  jobs: Job[],
  schedule: Schedule | undefined,
  turn: Turn,
): Events<CheckFinished[] | undefined> {
  const pass = {
    run: (again?: string) =>
      again === undefined ? scheduled(jobs, schedule, turn) : oneByOne(jobs, turn, again),
    hasPassed: (results: CheckFinished[]) => !results.some(hasFailed),
  };
  const judged = yield* onOneTree(pass, jobs.length === 0 ? undefined : turn.tree, turn.iteration);
  if (judged?.moved === undefined || !pass.hasPassed(judged.result)) return judged?.result;
  const { result, moved } = judged;
  for (const job of jobs) job.isVoid?.(moved);
  const voided = result.map((check) => ({ ...check, passed: false, why: moved }));
  yield* voided;
  return voided;
}

async function* scheduled(
  jobs: Job[],
  schedule: Schedule | undefined,
  turn: Turn,
): Events<CheckFinished[] | undefined> {
  if (schedule === undefined) return yield* oneByOne(jobs, turn);
  const results: CheckFinished[] = new Array(jobs.length);
  const waiting = schedule.order(jobs);
  const atWork = new Map<number, Promise<[number, CheckFinished]>>();
  const own = new AbortController();
  const kill = AbortSignal.any([turn.kill, own.signal]);
  setMaxListeners(0, kill);
  // A baseline is to be known as a whole.
  const failFast = schedule.failFast && turn.iteration > 0;
  const isOver = (): boolean => failFast && results.some(hasFailed);
  const mayStart = (): boolean =>
    waiting.length > 0 && atWork.size < schedule.parallel && !turn.stop.aborted && !isOver();
  try {
    for (;;) {
      while (mayStart()) {
        const place = waiting.shift() as number;
        const job = jobs[place] as Job;
        if (await schedule.isUnchanged(job)) {
          results[place] = skipped(job, place, turn, "unchanged");
          yield results[place];
          continue;
        }
        yield { type: "check.started", iteration: turn.iteration, command: job.command, place: place + 1 };
        atWork.set(place, numbered(place, job.run(kill)));
      }
      if (atWork.size === 0) break;
      const [place, result] = await Promise.race(atWork.values());
      atWork.delete(place);
      results[place] = { ...result, place: place + 1 };
      yield results[place];
    }
  } finally {
    own.abort();
    await Promise.allSettled(atWork.values());
  }
  if (turn.kill.aborted || (waiting.length > 0 && !isOver())) return undefined;
  for (const place of waiting) {
    results[place] = skipped(jobs[place] as Job, place, turn, "after_failure");
    yield results[place];
  }
  schedule.learn(jobs, results);
  return results;
}

async function* oneByOne(
  jobs: Job[],
  { iteration, stop, kill }: Turn,
  again?: string,
): Events<CheckFinished[] | undefined> {
  const results: CheckFinished[] = [];
  for (const [index, { command, run }] of jobs.entries()) {
    if (stop.aborted) return undefined;
    const place = again === undefined ? {} : { place: index + 1 };
    yield { type: "check.started", iteration, command, ...place, ...(again !== undefined && { again }) };
    const finished = { ...(await run(kill)), ...place, ...(again !== undefined && { again: true as const }) };
    yield finished;
    results.push(finished);
  }
  return kill.aborted ? undefined : results;
}

/** One that was not run has not failed. */
export function hasFailed({ passed, skipped: why }: CheckFinished): boolean {
  return !passed && why === undefined;
}

async function numbered(place: number, running: Promise<CheckFinished>): Promise<[number, CheckFinished]> {
  return [place, await running];
}

function skipped(
  { command }: Job,
  place: number,
  { iteration }: Turn,
  why: NonNullable<CheckFinished["skipped"]>,
): CheckFinished {
  return {
    type: "check.finished",
    iteration,
    command,
    exitCode: null,
    signal: null,
    timedOut: false,
    passed: why === "unchanged",
    durationMs: 0,
    log: "",
    output: "",
    skipped: why,
    place: place + 1,
  };
}
