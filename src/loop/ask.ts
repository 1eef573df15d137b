import { formatDuration } from "../duration.js";
import type { LimitedAgent, Limits, Question } from "../events.js";
import { ESCALATED, OWN_AGENT } from "../records/limited.js";
import type { AgentRequest, AgentRun } from "./effects.js";
import { budgetOf, type Events, limitReached, limitsOf, type Run, type Stop, usedBy } from "./run.js";

const FALLBACK = "fallback-";

/** The role of the agent that the loop asks first, second … when others are limited or down. */
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
  /** Whether the agent did its work although it said nothing. */
  hasWorked?: (() => boolean) | undefined;
}

/** Asks the agent, or another when it is limited or down. "again": repeat the iteration after a wait. */
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

/** The agents that the loop may ask, in this order. */
function rolesFor({ options, state }: Run, wanted: string | undefined): string[] {
  const { others = {} } = options;
  const own = state.escalated && others[ESCALATED] !== undefined ? ESCALATED : OWN_AGENT;
  return [wanted ?? own, ...Object.keys(others).filter(isFallback)];
}

/** An agent that the loop avoids from now on, because it uses paid extra usage, has still answered. */
function hasAnswered({ limit }: AgentRun, entry: LimitedAgent | undefined): boolean {
  return entry === undefined || (entry.kind === "limit" && limit === undefined);
}

/** Limits that this run met override those that other runs met. */
function limitedNow({ effects, state }: Run): Record<string, LimitedAgent> {
  return { ...effects.limited?.(), ...state.limited };
}

/** The first agent that is neither limited nor down, and that this iteration has not asked yet. */
function nextRole(run: Run, roles: string[], tried: Set<string>): string | undefined {
  const { effects } = run;
  const limits = limitsOf(run);
  const limited = limitedNow(run);
  const left = roles.filter((role) => !tried.has(role));
  const free = left.find((role) => {
    const entry = limited[role];
    if (entry === undefined || endOf(entry, limits) <= effects.clock.now().getTime()) return true;
    // The loop asks an agent that is down when no other can replace it.
    return entry.kind === "down" && roles.length === 1;
  });
  if (free !== undefined || tried.size > 0) return free;
  // If the user does not want to wait, or there is nothing to wait for, the loop asks the first agent.
  const isLimited = roles.some((role) => limited[role]?.kind === "limit");
  const isPaid = roles.every((role) => limited[role]?.overage);
  return isLimited && (limits.waitForLimits || isPaid) ? undefined : left[0];
}

/** How often the loop repeats a call that got an empty answer. */
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

/** When to ask an agent again. If it stated no time, the loop asks once more before its patience ends. */
function endOf({ until, since, stated }: LimitedAgent, { maxLimitWaitMs }: Limits): number {
  const end = Date.parse(until);
  return stated ? end : Math.min(end, Date.parse(since) + maxLimitWaitMs);
}

const POLL_MS = 500;
/** ralph waits a little longer than the limit lasts; the extra time does not count as impatience. */
const AFTER_RESET_MS = 60_000;

/** Waits until an agent is free again; a pause or a signal ends the wait. */
async function* waitForLimit(run: Run, iteration: number, roles: string[]): Events<Stop | "again"> {
  const { effects, stopwatch } = run;
  const { clock, signals } = effects;
  const limits = limitsOf(run);
  const limited = limitedNow(run);
  // The limits of the run leave nothing for what comes after the wait.
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

/** On a line of its own, or on several: one inside a sentence is spoken of, and not made. */
const PROMISE =
  /^[ \t]*[*_]{0,2}<promise>\s*(BLOCKED|DECIDE)\s*:((?:(?!<\/?promise>)[\s\S])*)<\/promise>[*_]{0,2}[ \t\r]*$/gim;
const MAX_CHARS = 2000;

/** What an agent asks a human in its final message, the last one. Words of its prompt do not count. */
export function questionIn(message: string, prompt: string): Question | undefined {
  const asked = plain(prompt);
  const own = [...message.matchAll(PROMISE)]
    .map(([, kind = "", text = ""]) => ({ kind, text: text.trim().slice(0, MAX_CHARS).trim() }))
    .filter(({ kind, text }) => text !== "" && !asked.includes(plain(`<promise>${kind}: ${text}</promise>`)));
  const last = own.at(-1);
  if (last === undefined) return undefined;
  return { kind: last.kind.toUpperCase() === "DECIDE" ? "decide" : "blocked", text: last.text };
}

function plain(text: string): string {
  return text.toLowerCase().replace(/\s+/g, "");
}
