import type { LimitedAgent, LoopEvent } from "../events.js";
import type { Engine, FleetJob } from "./engine.js";
import type { Control } from "./store.js";

/** What all claims of a worker share. */
export interface WorkerContext {
  engine: Engine;
  name: string;
  /** The folder of the mirrors and the claims. */
  home: string;
  /** Variables for the remotes, which no agent sees. */
  credentials: NodeJS.ProcessEnv;
  /** What its jobs may still cost, in USD. */
  allowance: { left: number };
  /** Usage limits that others have met, by the accounts. */
  limits: Map<string, LimitedAgent>;
  /** Tells the watchdog. */
  watch(claim: string, ms: number): Promise<unknown>;
  say(text: string): void;
}

/** A job at work. */
export interface Claim {
  id: string;
  /** Resolves when it is not this worker's any more. Never rejects. */
  done: Promise<void>;
  /** The accounts of its agents, as far as they are known. */
  accounts(): string[];
  control(wanted: Control): void;
  /** The iteration is finished, then the job goes back. */
  drain(): void;
  /** The job goes back now. */
  leave(): void;
}

/** A claim as the parts of its way know it. */
export interface ClaimState {
  context: WorkerContext;
  job: FleetJob;
  token: string;
  epoch: number;
  lease: Lease;
  stop: AbortController;
  kill: AbortController;
  wanted: Control;
  isDraining: boolean;
  accounts: Record<string, string>;
  /** Whether the loop shows life. */
  isAlive(): boolean;
  /** Called while the run is active, when people change what they want. */
  heed(): void;
}

/** What keeps a claim alive, and ends what it has started when it is lost. */
interface LeaseTerms {
  job: FleetJob;
  token: string;
  leaseMs: number;
  /** Whether the loop shows life: only then the lease is renewed. */
  isAlive(): boolean;
  /** Tells the watchdog how long agents may live on. */
  watch(ms: number): Promise<unknown>;
  /** Once. */
  onLost(why: string): void;
}

type Lease = ReturnType<typeof holdLease>;

/**
 * Renews the lease of a job four times in its time. It is lost when the engine gives it to somebody else, or when it
 * could not be renewed for two of its times.
 */
export function holdLease({ job, token, leaseMs, isAlive, watch, onLost }: LeaseTerms) {
  let until = performance.now() + leaseMs;
  let isOver = false;
  let isLost = false;
  let renewing: Promise<void> | undefined;
  const close = (): void => {
    isOver = true;
    clearInterval(timer);
  };
  const lose = (why: string): void => {
    if (isOver) return;
    close();
    isLost = true;
    onLost(why);
  };
  const renew = async (): Promise<void> => {
    const asked = performance.now();
    try {
      const renewed = await job.extendLock(token, leaseMs);
      if (isOver) return;
      if (renewed !== 1) return lose("the engine has ended it, or given it to another worker");
      until = asked + leaseMs;
      await watch(2 * leaseMs);
    } catch (error) {
      if (performance.now() > until + leaseMs) lose(`the engine did not answer: ${(error as Error).message}`);
    }
  };
  const beat = (): void => {
    if (performance.now() > until + leaseMs) lose("it could not be renewed");
    if (isOver || !isAlive()) return;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
  };
  const timer = setInterval(beat, leaseMs / 4);
  // The next renewal tells it again.
  watch(2 * leaseMs).catch(() => {});
  return {
    lose,
    isLost: () => isLost,
    /** The job is about to end: the engine renews nothing any more, and that is no loss. */
    async close(): Promise<void> {
      close();
      await renewing;
    },
    /** Before something begins that must not happen without a lease: a process may have been frozen meanwhile. */
    async ensure(): Promise<void> {
      if (isOver || performance.now() < until) return;
      await (renewing ?? renew());
    },
    /** Nothing that it has started is there any more. */
    async release(): Promise<void> {
      close();
      await renewing;
      await watch(0).catch(() => {});
    },
  };
}

/** What a step may take that says nothing of its own time: git, the setup of a worktree, a sandbox. */
const USUAL_MS = 10 * 60_000;
/** An agent that nobody watches for inactivity (0) is trusted for so long. */
const SILENCE_MS = 15 * 60_000;

interface Patience {
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
