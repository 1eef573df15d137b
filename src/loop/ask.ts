import { formatDuration } from "../duration.js";
import type { LimitedAgent, Limits } from "../events.js";
import { ESCALATED, OWN_AGENT } from "../records/limited.js";
import type { AgentRequest, AgentRun } from "./effects.js";
import { budgetOf, type Events, limitReached, limitsOf, type Run, type Stop, usedBy } from "./run.js";

const FALLBACK = "fallback-";

/** The role of the first, second … agent that is asked when others are limited or down. */
export function fallbackRole(index: number): string {
  return `${FALLBACK}${index + 1}`;
}

export function isFallback(role: string): boolean {
  return role.startsWith(FALLBACK);
}

export function nameOf({ options }: Run, role: string): string {
  return role === OWN_AGENT ? options.agent : (options.others?.[role] ?? role);
}

export interface AgentCall extends Pick<AgentRequest, "prompt" | "agent" | "isDone"> {
  /** Whether the work is there, though the agent said nothing. */
  hasWorked?: (() => boolean) | undefined;
}

/**
 * Asks the agent, or another one where it is limited or down. "again": the loop has waited for a limit, and the
 * same iteration begins anew.
 */
export async function* ask(
  run: Run,
  iteration: number,
  request: AgentCall,
): Events<AgentRun | Stop | "again"> {
  const { effects, state } = run;
  const roles = rolesFor(run, request.agent);
  const [first = OWN_AGENT] = roles;
  const tried = new Set<string>();
  let answer: AgentRun | undefined;
  for (;;) {
    const role = nextRole(run, roles, tried);
    if (role === undefined) {
      const limited = limitedNow(run);
      const isLimited = roles.some((one) => limited[one]?.kind === "limit");
      return isLimited || answer === undefined ? yield* waitForLimit(run, iteration, roles) : answer;
    }
    tried.add(role);
    const insteadOf = role === first ? undefined : nameOf(run, first);
    const agent = role === OWN_AGENT ? undefined : role;
    answer = yield* askOne(run, iteration, { ...request, agent, insteadOf });
    if (effects.signals.stop.aborted || hasAnswered(answer, state.limited[role])) return answer;
  }
}

/** The agents that can be asked, in this order. */
function rolesFor({ options, state }: Run, wanted: string | undefined): string[] {
  const { others = {} } = options;
  const own = state.escalated && others[ESCALATED] !== undefined ? ESCALATED : OWN_AGENT;
  return [wanted ?? own, ...Object.keys(others).filter(isFallback)];
}

/** An agent that is left alone from now on because it uses paid extra usage has answered all the same. */
function hasAnswered({ limit }: AgentRun, entry: LimitedAgent | undefined): boolean {
  return entry === undefined || (entry.kind === "limit" && limit === undefined);
}

/** What the run has met itself, over what others have. */
function limitedNow({ effects, state }: Run): Record<string, LimitedAgent> {
  return { ...effects.limited?.(), ...state.limited };
}

/** The first that is neither limited nor down, and was not asked just now. */
function nextRole(run: Run, roles: string[], tried: Set<string>): string | undefined {
  const { effects } = run;
  const limits = limitsOf(run);
  const limited = limitedNow(run);
  const left = roles.filter((role) => !tried.has(role));
  const free = left.find((role) => {
    const entry = limited[role];
    if (entry === undefined || endOf(entry, limits) <= effects.clock.now().getTime()) return true;
    // An agent that is down and has no other in its place is asked all the same.
    return entry.kind === "down" && roles.length === 1;
  });
  if (free !== undefined || tried.size > 0) return free;
  // Where the user does not want to wait, or there is nothing to wait for, the first one is asked.
  const isLimited = roles.some((role) => limited[role]?.kind === "limit");
  const isPaid = roles.every((role) => limited[role]?.overage);
  return isLimited && (limits.waitForLimits || isPaid) ? undefined : left[0];
}

/** Times that an empty answer is asked for again. */
const EMPTY_RETRIES = 3;

async function* askOne(
  run: Run,
  iteration: number,
  { hasWorked, ...request }: AgentCall & Pick<AgentRequest, "insteadOf">,
): Events<AgentRun> {
  const { effects } = run;
  for (let attempt = 1; ; attempt += 1) {
    const answer = yield* effects.runAgent({ ...request, iteration, attempt, ...budgetOf(run) });
    if (!answer.empty || effects.signals.stop.aborted || hasWorked?.()) return answer;
    if (attempt > EMPTY_RETRIES) {
      const words = answer.error === null ? "" : `: ${answer.error}`;
      return { ...answer, error: `no answer, ${attempt} times in a row${words}` };
    }
  }
}

/** When an agent is asked again. Where no time was stated, once more before the patience is over. */
function endOf({ until, since, stated }: LimitedAgent, { maxLimitWaitMs }: Limits): number {
  const end = Date.parse(until);
  return stated ? end : Math.min(end, Date.parse(since) + maxLimitWaitMs);
}

const POLL_MS = 500;
/** ralph waits a little longer than the limit lasts: that is not held against it. */
const AFTER_RESET_MS = 60_000;

/** Waits until one of the agents may be asked again; a pause or a signal ends it early. */
async function* waitForLimit(run: Run, iteration: number, roles: string[]): Events<Stop | "again"> {
  const { effects, stopwatch } = run;
  const { clock, signals } = effects;
  const limits = limitsOf(run);
  const limited = limitedNow(run);
  // Nothing is left for what comes after the wait.
  if (limitReached(usedBy(run), limits)) return "again";
  const [next] = roles
    .flatMap((role) => (limited[role] ? [{ role, entry: limited[role] }] : []))
    .sort((a, b) => endOf(a.entry, limits) - endOf(b.entry, limits));
  if (next === undefined) return "again";
  const { kind: _, ...entry } = next.entry;
  const agent = nameOf(run, next.role);
  const end = endOf(next.entry, limits);
  const last = Date.parse(entry.since) + limits.maxLimitWaitMs;
  const isTooLong = entry.stated ? end > last + AFTER_RESET_MS : last <= clock.now().getTime();
  if (!limits.waitForLimits || isTooLong)
    return { reason: "agent_failed", message: whyNot(agent, next.entry, limits) };

  if (effects.handOver) yield* effects.handOver(iteration);
  const begun = clock.elapsed();
  const activeMs = Math.round(stopwatch.activeMs());
  const until = new Date(end).toISOString();
  yield { type: "limit.waiting", iteration, agent, ...entry, until, activeMs };
  for (let left = Number.POSITIVE_INFINITY; left > 0 && !signals.stop.aborted && !effects.isPaused(); ) {
    left = end - clock.now().getTime();
    if (left > 0) await clock.sleep(Math.min(left, POLL_MS), signals.stop);
  }
  stopwatch.skip(clock.elapsed() - begun);
  return "again";
}

function whyNot(agent: string, { until, stated, message }: LimitedAgent, limits: Limits): string {
  const when = stated ? ` until ${until.slice(0, 16).replace("T", " ")} UTC` : "";
  const why = limits.waitForLimits
    ? `, longer than --max-limit-wait (${formatDuration(limits.maxLimitWaitMs)}) allows`
    : " (--no-wait-for-limits)";
  return `the usage limit of ${agent} is reached${when}${why}: ${message}`;
}
