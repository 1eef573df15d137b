import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { CheckFinished, LoopEventBody } from "../events.js";
import type { Tree, TreeState, Verification } from "../tree.js";
import { type Check, type CheckResult, type CheckSetup, hasFailed, notRun, runCheck } from "./check.js";
import { howItFailed } from "./failure.js";
import type { Schedule } from "./speed.js";

/** undefined: a signal came first. */
export type Results = AsyncGenerator<LoopEventBody, CheckResult[] | undefined>;

export interface ChecksSetup extends CheckSetup {
  /** Left out: one after the other. */
  schedule?: Schedule | undefined;
  /** How often checks that all passed run again before the result counts. */
  confirm?: number | undefined;
  /** Run when the others have passed. */
  hiddenChecks?: Check[] | undefined;
  /** How many other checks of the same verification have run before these: their places come first. */
  after?: number | undefined;
}

/**
 * Runs all checks, also after one failed; the results are in the order of the checks. The tree that they judged is the
 * tree that is there when they have ended: if files changed meanwhile, the checks run once more, and files that change
 * again are the checks' own. Results that passed on files that something else changed are void.
 */
export async function* runChecks(checks: Check[], setup: ChecksSetup, verify: Verification): Results {
  const { iteration, tree } = verify;
  if (tree === undefined || checks.length === 0) return yield* runPass(checks, setup, verify);
  const before = tree.before ?? (await tree.read());
  const first = yield* runConfirmed(checks, setup, verify);
  if (first === undefined || first.some(hasFailed)) return first;
  const after = await tree.read();
  const changed = differences(before, after).filter((one) => !isAmong(one, tree.own));
  if (changed.length === 0) return first;

  const second = yield* runPass(checks, setup, verify, `${namesOf(changed)} changed while the checks ran`);
  if (second === undefined) return undefined;
  const passed = !second.some(hasFailed);
  const last = await tree.read();
  const again = differences(after, last);
  const [early, late] = [keysOf(changed), keysOf(again)];
  const own = changed.filter((one) => isAmong(one, late));
  const isSettled = own.length === 0 || (await staysAs(last, tree));
  for (const key of keysOf(isSettled ? own : [])) tree.own.add(key);
  const byOthers = passed
    ? again.filter((one) => !isAmong(one, early) && !isAmong(one, tree.own))
    : changed.filter((one) => !own.includes(one));
  const strange = isSettled ? byOthers : changed;
  if (strange.length === 0) return second;
  const why = `${namesOf(strange)} changed while the checks ran, and not by them`;
  const what = `${why}: the checks prove nothing`;
  yield { type: "violation", iteration, what, file: (strange[0] as Difference).path };
  if (!passed) return second;
  const voided = second.map((one) => ({ ...one, event: { ...one.event, passed: false, why } }));
  yield* voided.map(({ event }) => event);
  return voided;
}

/** Long enough for a process that writes again and again to be seen. */
const SETTLE_MS = 100;

/** Files that go on changing while no check runs are not the checks' own. */
async function staysAs({ word }: TreeState, tree: Tree): Promise<boolean> {
  await sleep(SETTLE_MS);
  return (await tree.read()).word === word;
}

/**
 * A file that differs, by its path and, if it appeared or went away, by the folder at the top that it is in: checks
 * may name files and folders anew each time.
 */
interface Difference {
  path: string;
  keys: string[];
}

function differences(before: TreeState, after: TreeState): Difference[] {
  if (before.word === after.word) return [];
  const [earlier, later] = [before.files(), after.files()];
  const paths = [...new Set([...earlier.keys(), ...later.keys()])];
  return paths
    .filter((path) => earlier.get(path) !== later.get(path))
    .map((path) => {
      const isInBoth = earlier.has(path) && later.has(path);
      return { path, keys: isInBoth ? [path] : [path, path.replace(/^[^/]*$|\/.*$/s, "/")] };
    });
}

function keysOf(differences: Difference[]): Set<string> {
  return new Set(differences.flatMap(({ keys }) => keys));
}

function isAmong({ keys }: Difference, others: Set<string>): boolean {
  return keys.some((key) => others.has(key));
}

const MAX_NAMES = 3;

function namesOf(differences: Difference[]): string {
  const names = differences.slice(0, MAX_NAMES).map(({ path }) => path.replace(/\p{Cc}/gu, "?"));
  const more = differences.length > MAX_NAMES ? [`${differences.length - MAX_NAMES} more`] : [];
  return [...names, ...more].join(", ");
}

/**
 * Runs the checks, and the whole set again as often as `confirm` says if all passed. A check that fails then is
 * `flaky`, and nothing more runs.
 */
export async function* runConfirmed(checks: Check[], setup: ChecksSetup, verify: Verification): Results {
  const first = yield* runPass(checks, setup, verify);
  const { confirm: times = 0 } = setup;
  if (times === 0 || first === undefined || first.some(hasFailed)) return first;
  const compared = first.map(({ check, event }) => confirmed(check, event));
  let results = first;
  for (let time = 1; time <= times; time += 1) {
    const again = yield* runPass(compared, setup, verify, `confirmation ${time} of ${times}`);
    if (again === undefined) return undefined;
    results = again.map((result, at) => ({ ...result, check: checks[at] as Check }));
    if (results.some(({ event }) => event.flaky !== undefined && !event.passed)) break;
  }
  return results;
}

/** `again`: why it is a second pass, in which the checks run one by one and all of them. */
async function* runPass(
  checks: Check[],
  { schedule: given, after = 0, ...setup }: ChecksSetup,
  verify: Verification,
  again?: string,
): Results {
  const schedule: Partial<Schedule> = (again === undefined && given) || {};
  const { iteration } = verify;
  const reasons = [again && { again }];
  const results: CheckResult[] = [];
  for await (const [index, result] of scheduled(checks, schedule, setup, verify)) {
    const { name, command } = checks[index] as Check;
    const named = name === undefined ? {} : { name };
    // The events say which check it is where the order does not.
    const place = (given ?? again) === undefined ? {} : { place: after + index + 1 };
    if (result === undefined)
      yield { type: "check.started", iteration, ...named, command, ...place, ...reasons[index] };
    else {
      const event = { ...result.event, ...place, ...(again && { again: true as const }) };
      results[index] = { ...result, event };
      yield event;
    }
  }
  if (verify.kill.aborted || Object.keys(results).length < checks.length) return undefined;
  schedule.learn?.(results);
  return results;
}

/** Yields the place of each check when it is started, and again with its result when it has ended. */
async function* scheduled(
  checks: Check[],
  { parallel = 1, failFast = false, order, isUnchanged }: Partial<Schedule>,
  setup: CheckSetup,
  { iteration, stop, kill: killAll }: Verification,
): AsyncGenerator<[index: number, result?: CheckResult]> {
  const waiting = order?.(checks) ?? [...checks.keys()];
  const running = new Map<number, Promise<[number, CheckResult]>>();
  if (waiting.length === 0) return;
  const own = new AbortController();
  const kill = AbortSignal.any([killAll, own.signal]);
  setMaxListeners(0, kill);
  const run = async (index: number, check: Check): Promise<[number, CheckResult]> => {
    const once = () => runCheck(check, setup, { iteration, kill });
    return [index, await (retried(check).judge?.(once) ?? once())];
  };
  const skipped: number[] = [];
  try {
    for (;;) {
      while (waiting.length > 0 && running.size < parallel && !stop.aborted) {
        const index = waiting.shift() as number;
        const check = checks[index] as Check;
        if (await isUnchanged?.(check)) yield [index, notRun(check, iteration, "unchanged")];
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
      if (failFast && iteration > 0 && hasFailed(result)) skipped.push(...waiting.splice(0));
    }
  } finally {
    own.abort("nobody waits for the results");
    await Promise.allSettled(running.values());
  }
  for (const index of skipped) yield [index, notRun(checks[index] as Check, iteration, "after_failure")];
}

/** How often ralph runs a check that is known to be flaky. */
const TRIES = 3;

/** A check that has passed before; if it fails now, it is flaky. Reports an earlier retry, too. */
function confirmed(check: Check, before: CheckFinished): Check {
  const { judge } = retried(check);
  return {
    ...check,
    flaky: undefined,
    async judge(run) {
      const result = await (judge?.(run) ?? run());
      const { event } = result;
      if (event.passed)
        return { ...result, event: { ...(before.flaky && { flaky: before.flaky }), ...event } };
      const flaky = ["passed", outcomeOf(event, check)];
      return {
        ...result,
        event: { ...event, flaky, why: `flaky: ${flaky.join(", then ")} on the same files` },
      };
    },
  };
}

/** A check that is known to be flaky passes if one of its tries does, and reports the others. */
function retried(check: Check): Check {
  if (check.flaky !== "retry") return check;
  return {
    ...check,
    async judge(run) {
      const once = async (): Promise<CheckResult> => await (check.judge?.(run) ?? run());
      const outcomes: string[] = [];
      let result = await once();
      for (outcomes.push(outcomeOf(result.event, check)); !result.event.passed; ) {
        if (outcomes.length === TRIES || result.event.signal !== null) return result;
        result = await once();
        outcomes.push(outcomeOf(result.event, check));
      }
      return outcomes.length === 1 ? result : { ...result, event: { ...result.event, flaky: outcomes } };
    },
  };
}

function outcomeOf(event: CheckFinished, { timeoutMs }: Check): string {
  return event.passed ? "passed" : howItFailed(event, timeoutMs);
}
