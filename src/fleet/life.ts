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
 * Until when a loop may be silent and still counts as alive. The lease is renewed for the work's sake and not for the
 * process's: every step has a time after which the loop itself would have ended it, and a loop that lets this
 * time pass hangs. `now` in milliseconds.
 */
export function lifeOf({ inactivityTimeoutMs, checkTimeoutMs }: Patience, start: number) {
  const silence = inactivityTimeoutMs || SILENCE_MS;
  /** Of the step at work. */
  let allowed = USUAL_MS;
  let until = start + allowed;
  const touch = (now: number): void => {
    until = now + allowed;
  };
  return {
    /** The loop goes on. */
    event(event: LoopEvent, now: number): void {
      const left = "until" in event ? Math.max(0, Date.parse(event.until) - Date.parse(event.ts)) : 0;
      if (event.type === "agent.started") allowed = silence + USUAL_MS;
      else if (event.type === "check.started") allowed = checkTimeoutMs + USUAL_MS;
      else if (event.type === "backoff.started") allowed = event.seconds * 1000 + USUAL_MS;
      else if (event.type === "limit.waiting") allowed = left + USUAL_MS;
      // A person decides when it goes on, and no agent is at work.
      else if (event.type === "run.paused") allowed = Number.POSITIVE_INFINITY;
      else if (event.type !== "agent.event") allowed = USUAL_MS;
      touch(now);
    },
    /** The agent at work has used the processor, or changed a file. */
    touch,
    isAlive: (now: number): boolean => now < until,
  };
}
