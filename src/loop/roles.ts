import type { LimitedAgent, Limits } from "../events.js";
import { ESCALATED, OWN_AGENT } from "../records/limited.js";
import type { Run } from "./run.js";

const FALLBACK = "fallback-";

/** The role of the first, second … agent that is asked when others are limited or down. */
export function fallbackRole(index: number): string {
  return `${FALLBACK}${index + 1}`;
}

export function isFallback(role: string): boolean {
  return role.startsWith(FALLBACK);
}

/** Who can be asked, in this order. */
export function candidates({ options, state }: Run, wanted: string | undefined): string[] {
  const { others = {} } = options;
  const own = state.escalated && others[ESCALATED] !== undefined ? ESCALATED : OWN_AGENT;
  return [wanted ?? own, ...Object.keys(others).filter(isFallback)];
}

export function nameOf({ options }: Run, role: string): string {
  return role === OWN_AGENT ? options.agent : (options.others?.[role] ?? role);
}

/** When an agent is asked again. Where nobody told a time, once more before the patience is over. */
export function endOf(
  { until, since, stated }: LimitedAgent,
  { maxLimitWaitMs }: Pick<Limits, "maxLimitWaitMs">,
): number {
  const end = Date.parse(until);
  return stated ? end : Math.min(end, Date.parse(since) + maxLimitWaitMs);
}
