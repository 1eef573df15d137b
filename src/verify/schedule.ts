import { setMaxListeners } from "node:events";
import type { LoopEventBody } from "../events.js";
import type { Verification } from "../tree.js";
import { type Check, type CheckResult, type CheckSetup, hasFailed, notRun, runCheck } from "./check.js";
import { onOneTree } from "./one-tree.js";

/** In which order, how many at a time, and which not at all. */
export interface Schedule {
  parallel: number;
  /** No more are started when one has failed. */
  failFast: boolean;
  /** The checks by their places, as they are to be started. */
  order(checks: Check[]): number[];
  /** Whether it would pass as it did the last time. */
  isUnchanged(check: Check): Promise<boolean>;
  /** Called with the results of all of them. */
  learn(results: CheckResult[]): void;
}

export interface ChecksSetup extends CheckSetup {
  /** Left out: one after the other. */
  schedule?: Schedule | undefined;
}

type Results = AsyncGenerator<LoopEventBody, CheckResult[] | undefined>;

/**
 * Runs all checks, also after one failed; the results are in the order of the checks. undefined: a signal came
 * first. They judge one tree: the files they passed on are there when they have ended.
 */
export function runChecks(checks: Check[], setup: ChecksSetup, verify: Verification): Results {
  const { iteration } = verify;
  const tree = checks.length === 0 ? undefined : verify.tree;
  return onOneTree((again) => runPass(checks, setup, verify, again), { tree, iteration });
}

const IN_ORDER: Schedule = {
  parallel: 1,
  failFast: false,
  order: (checks) => checks.map((_, index) => index),
  isUnchanged: async () => false,
  learn() {},
};

/** `again`: why it is a second pass, in which the checks run one by one and all of them. */
async function* runPass(
  checks: Check[],
  { schedule: given, ...setup }: ChecksSetup,
  verify: Verification,
  again: string | undefined,
): Results {
  const schedule = (again === undefined && given) || IN_ORDER;
  const { iteration } = verify;
  const results: CheckResult[] = [];
  for await (const [index, result] of scheduled(checks, schedule, setup, verify)) {
    const { command } = checks[index] as Check;
    // The events say which check it is where the order does not.
    const place = (given ?? again) === undefined ? {} : { place: index + 1 };
    if (result === undefined)
      yield { type: "check.started", iteration, command, ...place, ...(again && { again }) };
    else {
      const event = { ...result.event, ...place, ...(again && { again: true as const }) };
      results[index] = { ...result, event };
      yield event;
    }
  }
  if (verify.kill.aborted || Object.keys(results).length < checks.length) return undefined;
  schedule.learn(results);
  return results;
}

/** Yields the place of each check when it is started, and again with its result when it has ended. */
async function* scheduled(
  checks: Check[],
  { parallel, failFast, order, isUnchanged }: Schedule,
  setup: CheckSetup,
  { iteration, stop, kill: killAll }: Verification,
): AsyncGenerator<[index: number, result?: CheckResult]> {
  const waiting = order(checks);
  const running = new Map<number, Promise<[number, CheckResult]>>();
  const own = new AbortController();
  const kill = AbortSignal.any([killAll, own.signal]);
  setMaxListeners(0, kill);
  const run = async (index: number, check: Check): Promise<[number, CheckResult]> => {
    const once = () => runCheck(check, setup, { iteration, kill });
    return [index, await (check.judge?.(once) ?? once())];
  };
  let isOver = false;
  try {
    for (;;) {
      while (waiting.length > 0 && running.size < parallel && !stop.aborted && !isOver) {
        const index = waiting.shift() as number;
        const check = checks[index] as Check;
        if (await isUnchanged(check)) yield [index, notRun(check, iteration, "unchanged")];
        else {
          yield [index];
          running.set(index, run(index, check));
        }
      }
      if (running.size === 0) break;
      const [index, result] = await Promise.race(running.values());
      running.delete(index);
      yield [index, result];
      // All results of a baseline are needed.
      isOver ||= failFast && iteration > 0 && hasFailed(result);
    }
  } finally {
    own.abort();
    await Promise.allSettled(running.values());
  }
  if (isOver)
    for (const index of waiting) yield [index, notRun(checks[index] as Check, iteration, "after_failure")];
}
