import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { LimitedAgent } from "../events.js";
import { inPackage } from "../package-folder.cjs";
import { type Companion, startCompanion } from "../process/companion.js";
import { keepLimits } from "./budget.js";
import type { Claim, WorkerContext } from "./claim.js";
import type { Engine, FleetJob, FleetWorker } from "./engine.js";
import { canTake, JOB_VERSION, QUEUES_KEY, queueName } from "./job.js";
import { hasRoom } from "./site.js";
import { type Control, controlKey } from "./store.js";
import { claimJob } from "./take.js";

export interface WorkerOptions extends Pick<WorkerContext, "name" | "home" | "credentials" | "say"> {
  slots: number;
  tags: string[];
  /** In USD; undefined: no limit. */
  maxCost: number | undefined;
  /** Aborted: finish the iterations at work, and hand the jobs back. */
  drain: AbortSignal;
  /** Aborted: hand them back now. */
  leave: AbortSignal;
}

const LOOK_MS = 1000;
const QUEUES_MS = 5000;
const AGAIN_MS = 500;

/** Takes jobs from the engine and works on them until it has to leave. It only dials out. */
export async function work(engine: Engine, options: WorkerOptions): Promise<void> {
  const { name, tags, drain, leave } = options;
  const slots = slotsOf(engine, options);
  const workers = new Map<string, FleetWorker>();
  /** Whether another queue has a job that goes first. */
  const isOutranked = async (queue: string): Promise<boolean> => {
    if (workers.size === 1) return false;
    const ranks = await Promise.all([queue, ...workers.keys()].map((one) => rankOf(engine, one)));
    const [own = 0, ...others] = ranks;
    return others.some((other) => other < own);
  };
  /** One queue for each set of tags that jobs ask for. */
  const take = async (worker: FleetWorker): Promise<void> => {
    for (let count = 0; !drain.aborted; count += 1) {
      if (!slots.isFree() || (await isOutranked(worker.name))) {
        await slots.change();
        continue;
      }
      const token = `${name}:${worker.id}:${count}`;
      const job = await worker.getNextJob(token, { block: true }).catch(() => sleep(AGAIN_MS, undefined));
      if (job == null) await slots.rest();
      // Another queue was quicker, or it is time to leave.
      else if (!slots.isFree() || drain.aborted) await job.moveToWait(token).catch(() => {});
      else slots.start(job, token);
    }
  };
  const open = async (): Promise<void> => {
    const names = new Set([queueName({ v: JOB_VERSION, tags: [] }), ...(await queuesOf(engine))]);
    const fresh = [...names].filter((one) => !workers.has(one) && canTake(one, tags));
    for (const one of fresh) workers.set(one, engine.worker(one));
    for (const worker of fresh.map((one) => workers.get(one) as FleetWorker)) {
      void worker.startStalledCheckTimer().catch(() => {});
      void take(worker);
    }
  };
  leave.addEventListener("abort", slots.leave);
  const queues = setInterval(() => void open(), QUEUES_MS);
  const looks = setInterval(() => void slots.look(), LOOK_MS);
  await open();
  if (!drain.aborted) await once(drain, "abort");
  clearInterval(queues);
  await slots.drain();
  clearInterval(looks);
}

/** The jobs at work, as many as there are slots. */
function slotsOf(engine: Engine, { slots, name, home, credentials, maxCost, say }: WorkerOptions) {
  const claims = new Set<Claim>();
  const watchdog = watchdogOf(home);
  const context: WorkerContext = {
    ...{ engine, say, name, home, credentials, watch: watchdog.watch },
    allowance: { left: maxCost ?? Number.POSITIVE_INFINITY },
    limits: new Map<string, LimitedAgent>(),
  };
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  return {
    isFree: (): boolean => claims.size < slots && context.allowance.left > 0 && hasRoom(home),
    /** Resolves when something has changed, or may have: the disk may have room again. */
    change: () => new Promise<void>((resolve) => waiting.push(resolve)),
    start(job: FleetJob, token: string): void {
      const claim = claimJob(context, job, token);
      claims.add(claim);
      say(`${claim.id}: taken (${claims.size} of ${slots} slots)`);
      void claim.done.then(() => {
        claims.delete(claim);
        wake();
      });
      wake();
    },
    /** What people want of the jobs, and what others have found out about their accounts: one question. */
    async look(): Promise<void> {
      const all = [...claims];
      const accounts = [...new Set(all.flatMap((claim) => claim.accounts()))];
      const keys = [...all.map(({ id }) => controlKey(id)), ...accounts];
      const found = keys.length > 0 && (await engine.store.get(keys).catch(() => false as const));
      wake();
      if (found === false) return;
      for (const [at, claim] of all.entries()) claim.control((found[at]?.value ?? {}) as Control);
      keepLimits(context.limits, accounts, found.slice(all.length));
    },
    /** There was no job for a while. */
    async rest(): Promise<void> {
      if (claims.size === 0) await watchdog.rest();
    },
    leave(): void {
      for (const claim of claims) claim.leave();
    },
    async drain(): Promise<void> {
      wake();
      for (const claim of claims) claim.drain();
      await Promise.all([...claims].map(({ done }) => done));
      await watchdog.rest();
    },
  };
}

/** The priority of the job that a queue gives next; the lower number goes first. */
async function rankOf(engine: Engine, queue: string): Promise<number> {
  const [head] = await engine
    .queue(queue)
    .getJobs(["waiting", "prioritized"], 0, 0, true)
    .catch(() => []);
  return head?.opts.priority ?? Number.POSITIVE_INFINITY;
}

async function queuesOf({ store }: Engine): Promise<string[]> {
  const [known] = await store.get([QUEUES_KEY]).catch(() => []);
  return (known?.value as { names: string[] } | undefined)?.names ?? [];
}

/** The program that ends agents without a lease; it rests while there are no claims. */
function watchdogOf(cwd: string) {
  let companion: Companion | undefined;
  return {
    watch(claim: string, ms: number): Promise<unknown> {
      if (companion === undefined) {
        const started = startCompanion({
          file: process.execPath,
          args: [inPackage("dist/fleet/watchdog.js")],
          cwd,
          env: { PATH: process.env["PATH"] },
        });
        companion = started;
        void started.gone.then(() => {
          if (companion === started) companion = undefined;
        });
      }
      return companion.ask({ claim, ms });
    },
    async rest(): Promise<void> {
      const ending = companion;
      companion = undefined;
      await ending?.end();
    },
  };
}
