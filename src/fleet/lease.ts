import type { FleetJob } from "./engine.js";

/** What keeps a claim alive, and ends what it has started when it is lost. */
export interface LeaseTerms {
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

export type Lease = ReturnType<typeof holdLease>;

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
