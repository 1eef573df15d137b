import { formatDuration } from "../duration.js";
import type { LimitedAgent } from "../events.js";
import { limitReached } from "./limits.js";
import { endOf, nameOf } from "./roles.js";
import { type Events, limitsOf, type Run, type Stop } from "./run.js";

const LOOK_MS = 500;
/** ralph waits a little longer than the limit lasts: that is not held against it. */
const AFTER_RESET_MS = 60_000;

/** Waits until one of the agents may be asked again; a pause or a signal ends it early. */
export async function* waitForLimit(run: Run, iteration: number, roles: string[]): Events<Stop | "again"> {
  const { effects, stopwatch } = run;
  const { clock, signals } = effects;
  // Nothing is left for what comes after the wait.
  if (limitReached({ ...run.state, activeMs: stopwatch.activeMs() }, limitsOf(run))) return "again";
  const next = nextFree(run, roles);
  if (next === undefined) return "again";
  const { role, entry } = next;
  const agent = nameOf(run, role);
  const until = endOfWait(run, entry);
  if (until === undefined) return { reason: "agent_failed", message: whyNot(run, agent, entry) };

  if (effects.handOver) yield* effects.handOver(iteration);
  const { kind: _, ...told } = entry;
  const begun = clock.elapsed();
  yield {
    type: "limit.waiting",
    iteration,
    agent,
    ...told,
    until: new Date(until).toISOString(),
    activeMs: Math.round(stopwatch.activeMs()),
  };
  for (let left = Number.POSITIVE_INFINITY; left > 0 && !signals.stop.aborted && !effects.isPaused(); ) {
    left = until - clock.now().getTime();
    if (left > 0) await clock.sleep(Math.min(left, LOOK_MS), signals.stop);
  }
  stopwatch.skip(clock.elapsed() - begun);
  return "again";
}

function nextFree(run: Run, roles: string[]): { role: string; entry: LimitedAgent } | undefined {
  const known = roles.flatMap((role) => {
    const entry = run.state.limited[role];
    return entry === undefined ? [] : [{ role, entry }];
  });
  const limits = limitsOf(run);
  return known.sort((a, b) => endOf(a.entry, limits) - endOf(b.entry, limits))[0];
}

/** undefined: it is not waited for, or not for so long. */
function endOfWait(run: Run, entry: LimitedAgent): number | undefined {
  const limits = limitsOf(run);
  const end = endOf(entry, limits);
  const last = Date.parse(entry.since) + limits.maxLimitWaitMs;
  const isTooLong = entry.stated ? end > last + AFTER_RESET_MS : last <= run.effects.clock.now().getTime();
  return limits.waitForLimits && !isTooLong ? end : undefined;
}

function whyNot(run: Run, agent: string, { until, stated, message }: LimitedAgent): string {
  const { waitForLimits, maxLimitWaitMs } = limitsOf(run);
  const when = stated ? ` until ${until.slice(0, 16).replace("T", " ")} UTC` : "";
  const why = waitForLimits
    ? `, longer than --max-limit-wait (${formatDuration(maxLimitWaitMs)}) allows`
    : " (--no-wait-for-limits)";
  return `the usage limit of ${agent} is reached${when}${why}: ${message}`;
}
