import type { LoopEvent } from "../events.js";

/** What a step may take that says nothing of its own time: git, the setup of a worktree, a sandbox. */
const USUAL_MS = 10 * 60_000;
/** An agent that nobody watches for inactivity (0) is trusted for so long. */
const SILENCE_MS = 15 * 60_000;

export interface Patience {
  /** 0: the loop never ends an agent for its silence. */
  inactivityTimeoutMs: number;
  checkTimeoutMs: number;
}

/**
 * Until when a run may be silent and still counts as alive. The lease is renewed for the work's sake and not for the
 * process's: every step has a time after which the loop itself would have ended it, and a loop that lets this
 * time pass hangs. Of several lanes, one that is alive is enough. `now` in milliseconds.
 */
export function lifeOf({ inactivityTimeoutMs, checkTimeoutMs }: Patience, start: number) {
  /** undefined: as long as before. */
  const allowedFor = (event: LoopEvent): number | undefined => {
    switch (event.type) {
      case "agent.event":
        return undefined;
      case "agent.started":
        return (inactivityTimeoutMs || SILENCE_MS) + USUAL_MS;
      case "check.started":
      // The checks of a landing begin.
      case "run.finished":
        return checkTimeoutMs + USUAL_MS;
      case "backoff.started":
        return event.seconds * 1000 + USUAL_MS;
      case "limit.waiting":
        return Math.max(0, Date.parse(event.until) - Date.parse(event.ts)) + USUAL_MS;
      // A person decides when it continues, and no agent runs.
      case "run.paused":
        return Number.POSITIVE_INFINITY;
      default:
        return USUAL_MS;
    }
  };
  /** Of the step at work in each lane. */
  const steps = new Map([["", { allowed: USUAL_MS, until: start + USUAL_MS }]]);
  return {
    /** The loop goes on. */
    event(event: LoopEvent, now: number): void {
      const { lane = "" } = event;
      const allowed = allowedFor(event) ?? steps.get(lane)?.allowed ?? USUAL_MS;
      steps.set(lane, { allowed, until: now + allowed });
    },
    /** An agent at work has used the processor, or changed a file; or a check of a landing has begun. */
    touch(now: number): void {
      for (const step of steps.values()) step.until = now + step.allowed;
    },
    isAlive: (now: number): boolean => [...steps.values()].some(({ until }) => now < until),
  };
}
