import type { AgentFinished, LimitedAgent } from "../events.js";

/** The role of the agent that a run was started with. */
export const OWN_AGENT = "agent";
/** The role of the same agent with the stronger model of `--escalate-model`. */
export const ESCALATED = "escalated";

/** The clocks of others are not ours. */
const AFTER_RESET_MS = 60_000;
/** Where nobody told how long: minutes, the last one again and again. */
const STEPS = [5, 15, 30, 60];
/** Agents that wait do not all come back at the same moment. */
const JITTER = 0.1;

/** How long an agent is left alone after it was limited, or down; undefined: it is neither. */
export function limitedAfter(
  before: LimitedAgent | undefined,
  event: Pick<AgentFinished, "limit" | "overage" | "signedOut" | "error" | "stopped" | "steps">,
  ts: string,
): LimitedAgent | undefined {
  const { limit = event.overage, error, stopped, steps } = event;
  if (limit !== undefined) {
    const entry = leftAlone("limit", before, limit.resetsAt, limit.message, ts);
    return event.limit === undefined ? { ...entry, overage: true } : entry;
  }
  const isOut = event.signedOut || (steps === 0 && (stopped === null || stopped === "inactivity"));
  return error !== null && isOut ? leftAlone("down", before, null, error, ts) : undefined;
}

function leftAlone(
  kind: LimitedAgent["kind"],
  earlier: LimitedAgent | undefined,
  resetsAt: string | null,
  message: string,
  ts: string,
): LimitedAgent {
  const before = earlier?.kind === kind ? earlier : undefined;
  const attempt = (before?.attempt ?? 0) + 1;
  const at = Date.parse(ts);
  const reset = resetsAt === null ? Number.NaN : Date.parse(resetsAt);
  // A time that has passed and was no end of it says nothing.
  const stated = reset > at || (!Number.isNaN(reset) && attempt === 1);
  const until = stated ? Math.max(reset, at) + AFTER_RESET_MS : at + unstatedMs(attempt, at);
  return {
    kind,
    until: new Date(until).toISOString(),
    since: before?.since ?? ts,
    attempt,
    stated,
    message,
  };
}

/** The moment itself is as good as a throw of dice, and the same when the journal is read again. */
function unstatedMs(attempt: number, at: number): number {
  const minutes = STEPS[Math.min(attempt, STEPS.length) - 1] as number;
  const chance = (at % 1000) / 1000;
  return Math.round(minutes * 60_000 * (1 + JITTER * chance));
}
