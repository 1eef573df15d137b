import { setTimeout as sleep } from "node:timers/promises";
import type { LimitedAgent } from "../events.js";
import { inPackage } from "../package-folder.cjs";
import { type Companion, startCompanion } from "../process/companion.js";
import { keepLimits } from "./accounts.js";
import type { Claim, WorkerContext } from "./claim.js";
import { type Control, controlKey } from "./control.js";
import type { Engine, FleetWorker } from "./engine.js";
import { canTake, JOB_VERSION, QUEUES_KEY, queueName } from "./job.js";
import { hasRoom } from "./site.js";
import { claimJob } from "./take.js";

export interface WorkerOptions {
  name: string;
  slots: number;
  tags: string[];
  /** In USD; undefined: no limit. */
  maxCost: number | undefined;
  /** The folder of the mirrors and the claims. */
  home: string;
  credentials: NodeJS.ProcessEnv;
  /** Aborted: finish the iterations at work, and hand the jobs back. */
  drain: AbortSignal;
  /** Aborted: hand them back now. */
  leave: AbortSignal;
  say(text: string): void;
}

const LOOK_MS = 1000;
const QUEUES_MS = 5000;
const AGAIN_MS = 500;

/** Takes jobs from the engine and works on them until it is told to leave. Dials out, and listens to nobody. */
export async function work(engine: Engine, options: WorkerOptions): Promise<void> {
  const { slots, tags, home, drain, leave, say } = options;
  const claims = new Map<string, Claim>();
  const watchdog = watchdogOf(home);
  const context: WorkerContext = {
    ...{ engine, say, name: options.name, home, credentials: options.credentials },
    allowance: { left: options.maxCost ?? Number.POSITIVE_INFINITY },
    limits: new Map<string, LimitedAgent>(),
    watch: watchdog.watch,
  };
  const waiting: (() => void)[] = [];
  /** A slot is free, or it is time to leave. */
  const wake = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  drain.addEventListener("abort", () => {
    for (const claim of claims.values()) claim.drain();
    wake();
  });
  leave.addEventListener("abort", () => {
    for (const claim of claims.values()) claim.leave();
  });
  const start = (
    worker: FleetWorker,
    job: NonNullable<Awaited<ReturnType<FleetWorker["getNextJob"]>>>,
    token: string,
  ) => {
    const claim = claimJob(context, job, token);
    const key = `${worker.name} ${job.id}`;
    claims.set(key, claim);
    say(`${claim.id}: taken (${claims.size} of ${slots} slots)`);
    void claim.done.then(async () => {
      claims.delete(key);
      if (claims.size === 0) await watchdog.rest();
      wake();
    });
  };
  const isFree = (): boolean => claims.size < slots && context.allowance.left > 0 && hasRoom(options.home);
  /** One queue for each set of tags that jobs ask for. */
  const take = async (worker: FleetWorker): Promise<void> => {
    for (let count = 0; !drain.aborted; count += 1) {
      if (!isFree()) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        continue;
      }
      const token = `${options.name}:${worker.id}:${count}`;
      const job = await worker.getNextJob(token, { block: true }).catch(() => sleep(AGAIN_MS, undefined));
      if (job == null) continue;
      // Another queue was quicker, or it is time to leave.
      if (!isFree() || drain.aborted) await job.moveToWait(token).catch(() => {});
      else start(worker, job, token);
    }
  };
  const workers = new Map<string, FleetWorker>();
  const open = (name: string): void => {
    if (workers.has(name) || !canTake(name, tags)) return;
    const worker = engine.worker(name);
    workers.set(name, worker);
    void worker.startStalledCheckTimer().catch(() => {});
    void take(worker);
  };
  const openAll = (names: string[]): void => {
    for (const name of names) open(name);
  };
  open(queueName({ v: JOB_VERSION, tags: [] }));
  const queues = setInterval(() => void queuesOf(engine).then(openAll), QUEUES_MS);
  openAll(await queuesOf(engine));
  // The disk may have room again.
  const looks = setInterval(() => void look(context, [...claims.values()]).then(wake), LOOK_MS);
  await new Promise<void>((resolve) => {
    if (drain.aborted) resolve();
    drain.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(queues);
  await Promise.all([...claims.values()].map(({ done }) => done));
  clearInterval(looks);
  await watchdog.rest();
}

async function queuesOf({ store }: Engine): Promise<string[]> {
  const [known] = await store.get([QUEUES_KEY]).catch(() => []);
  return (known?.value as { names: string[] } | undefined)?.names ?? [];
}

/** What people want of the jobs at work, and what others have found out about their accounts: one question. */
async function look({ engine, limits }: WorkerContext, claims: Claim[]): Promise<void> {
  if (claims.length === 0) return;
  const accounts = [...new Set(claims.flatMap((claim) => claim.accounts()))];
  const keys = [...claims.map(({ id }) => controlKey(id)), ...accounts];
  const found = await engine.store.get(keys).catch(() => undefined);
  if (found === undefined) return;
  for (const [at, claim] of claims.entries()) claim.control((found[at]?.value ?? {}) as Control);
  keepLimits(limits, accounts, found.slice(claims.length));
}

/** The program that ends agents without a lease; it runs while there are claims. */
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
      await companion?.end();
    },
  };
}
