import { setTimeout as sleep } from "node:timers/promises";
import type { Queue, Job as QueueJob, Worker } from "bullmq";
import type { Redis } from "ioredis";
import type { Pool } from "pg";
import { parseDuration } from "../duration.js";
import { RalphError, systemErrorCode } from "../errors.js";
import { invalid } from "../settings/limits.js";
import type { Settings } from "../settings/schema.js";
import type { JobData, JobEnd } from "./job.js";
import type { Store } from "./store.js";

type FleetQueue = Queue<JobData, JobEnd>;
export type FleetWorker = Worker<JobData, JobEnd>;
export type FleetJob = QueueJob<JobData, JobEnd>;

/** The engine that the fleet stands on: BullMQ's queues and ralph's own store, in the same Redis or PostgreSQL. */
export interface Engine extends FleetAddress {
  store: Store;
  queue(name: string): FleetQueue;
  /** Takes jobs from a queue, one by one, when it is asked to. */
  worker(name: string): FleetWorker;
  close(): Promise<void>;
}

/** What BullMQ calls everything of ours. */
const PREFIX = "ralph";
/** So long an answer may take before the engine counts as gone. */
const ANSWER_MS = 10_000;
/** How long a worker waits for a job before it looks into its other queues. */
const WAIT_SECONDS = 5;
const CLOSE_MS = 1000;
/** A job is taken over as often as its workers die. */
const ANY_NUMBER = 1_000_000;

const PACKAGES = { redis: ["bullmq", "ioredis"], postgres: ["bullmq", "pg"] } as const;

/** `lasting`: it comes back by itself after the engine was away, as a worker needs it. */
export async function openEngine(address: FleetAddress, { lasting = false } = {}): Promise<Engine> {
  for (const name of PACKAGES[address.kind]) await load(name, PACKAGES[address.kind]);
  const bull = (await load("bullmq")) as typeof import("bullmq");
  const base = await (address.kind === "redis" ? redisBase(address, lasting) : postgresBase(address));
  const made: FleetWorker[] = [];
  const factory =
    address.kind === "redis" ? [] : [await onServerTime(bull.createPostgresBackend, base.store)];
  const make = <Made extends FleetQueue | FleetWorker>(one: unknown): Made => {
    const it = one as FleetWorker;
    // What fails while the engine is away is tried again, or told by the command that needs it.
    it.on("error", () => {});
    made.push(it);
    return one as Made;
  };
  const queues = new Map<string, FleetQueue>();
  const options = { connection: base.connection, prefix: PREFIX };
  return {
    ...address,
    store: base.store,
    queue(name) {
      const known = queues.get(name);
      if (known !== undefined) return known;
      const queue = make<FleetQueue>(new (bull.Queue as Constructor)(name, options, ...factory));
      queues.set(name, queue);
      return queue;
    },
    worker(name) {
      const { leaseMs } = address;
      const more = { autorun: false, lockDuration: leaseMs, stalledInterval: Math.round(leaseMs / 4) };
      const waits = { drainDelay: WAIT_SECONDS, maxStalledCount: ANY_NUMBER };
      return make(
        new (bull.Worker as Constructor)(name, null, { ...options, ...more, ...waits }, ...factory),
      );
    },
    async close() {
      // A worker that waits for a job would wait on; its connection goes with the process.
      const closed = Promise.all(made.map((one) => one.close(true).catch(() => {})));
      await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
      await base.store.close();
    },
  };
}

/** Less often, and a clock that runs wrong would be noticed. */
const SYNC_MS = 60_000;
/** An answer that took longer tells no time. */
const MOST_ANSWER_MS = 1000;
/** Above all counts and durations, and below all times, in milliseconds. */
const TIMES = 1e12;

interface Backend {
  run(command: string, values: unknown[]): unknown;
}

/**
 * BullMQ gives PostgreSQL this machine's time with every command, and all workers wait for a lock or a check that was
 * dated ahead. So it gets the time of the server, counted on by a clock that nobody sets.
 */
async function onServerTime(create: unknown, store: Store): Promise<(...given: unknown[]) => Backend> {
  let start = 0;
  const sync = async (): Promise<void> => {
    const asked = performance.now();
    const { now } = await store.describe();
    const answered = performance.now();
    if (start === 0 || answered - asked < MOST_ANSWER_MS) start = now - answered;
  };
  await sync();
  setInterval(() => void sync().catch(() => {}), SYNC_MS).unref();
  return (...given) => {
    const backend = (create as (...given: unknown[]) => Backend)(...given);
    const run = backend.run.bind(backend);
    backend.run = (command, values) => {
      const ahead = Math.round(start + performance.now() - Date.now());
      return run(
        command,
        values.map((value) => (typeof value === "number" && value > TIMES ? value + ahead : value)),
      );
    };
    return backend;
  };
}

/** Their last argument is the engine, which decides about the type of the others. */
type Constructor = new (...given: unknown[]) => unknown;

async function redisBase({ url, shown }: FleetAddress, lasting: boolean) {
  const { Redis: Client } = (await load("ioredis")) as typeof import("ioredis");
  const { redisStore } = await import("./redis.js");
  const retryStrategy = lasting ? (times: number) => Math.min(100 * times, 1000) : () => null;
  const options = { retryStrategy, lazyConnect: true, connectTimeout: ANSWER_MS };
  const redis: Redis = new Client(url, { ...options, commandTimeout: ANSWER_MS, maxRetriesPerRequest: null });
  let last: Error | undefined;
  redis.on("error", (error) => {
    last = error;
  });
  await redis.connect().catch((error) => {
    redis.disconnect();
    throw unreachable(shown, last ?? error);
  });
  return { store: redisStore(redis), connection: { url, ...options, maxRetriesPerRequest: null } };
}

async function postgresBase({ url: given, shown }: FleetAddress) {
  const url = asLibpq(given);
  const { default: pg } = (await load("pg")) as typeof import("pg");
  const { postgresStore } = await import("./postgres.js");
  const options = { connectionString: url, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS };
  const pool: Pool = new pg.Pool({ ...options, max: 4 });
  pool.on("error", () => {});
  const store = await postgresStore(pool).catch(async (error) => {
    await pool.end();
    throw unreachable(shown, error);
  });
  return {
    store,
    connection: { connectionString: url, connectionTimeoutMillis: ANSWER_MS, max: 4, migrate: true },
  };
}

/** `sslmode` means what it means to PostgreSQL's own programs: `require` encrypts, `verify-full` also asks who it is. */
function asLibpq(given: string): string {
  const url = new URL(given);
  const mode = url.searchParams.get("sslmode");
  // The library has a mode of its own.
  if (mode !== null && mode !== "no-verify") url.searchParams.set("uselibpqcompat", "true");
  return url.href;
}

function unreachable(shown: string, cause: Error & { errors?: Error[] }): RalphError {
  // Where a name has several addresses, each of them has failed.
  const why = cause.message || cause.errors?.[0]?.message || systemErrorCode(cause) || "no answer";
  return new RalphError(`cannot reach the engine of the fleet at ${shown}: ${why}`, {
    code: "fleet_unreachable",
    hint: "ralph fleet doctor says more",
    cause,
  });
}

/** An optional package: the name is no literal, so that it stays out of the bundle. */
export async function load(name: string, together: readonly string[] = [name]): Promise<unknown> {
  try {
    const loaded = await import(name);
    return name === "pg" || loaded.default === undefined ? loaded : { ...loaded, ...loaded.default };
  } catch (error) {
    if (!String(systemErrorCode(error)).endsWith("MODULE_NOT_FOUND")) throw error;
    throw new RalphError(`the fleet needs the package ${name}, which is not installed`, {
      code: "package_missing",
      hint: `npm install --global ${together.join(" ")}; without --global where ralph is installed in the project`,
      cause: error,
    });
  }
}

/** Where the engine of the fleet is, and what the settings say of the fleet. */
export interface FleetAddress {
  url: string;
  kind: "redis" | "postgres";
  /** The same without its password, to be shown. */
  shown: string;
  leaseMs: number;
  maxCostPerDay: number | undefined;
}

const SCHEMES: Record<string, FleetAddress["kind"]> = {
  "redis:": "redis",
  "rediss:": "redis",
  "postgres:": "postgres",
  "postgresql:": "postgres",
};

const LEASE_MS = 60_000;
const LEAST_LEASE_MS = 1000;

export function fleetAddress({ fleet = {} }: Settings, env: NodeJS.ProcessEnv): FleetAddress {
  const url = env["RALPH_FLEET"] || fleet.url;
  if (url === undefined)
    throw new RalphError("no fleet is configured", {
      code: "fleet_unknown",
      hint: "set RALPH_FLEET or fleet.url to redis://… or postgres://…; ralph fleet up starts a PostgreSQL of its own",
    });
  const name = env["RALPH_FLEET"] ? "RALPH_FLEET" : "fleet.url";
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const kind = SCHEMES[parsed?.protocol ?? ""];
  if (parsed === undefined || kind === undefined || parsed.hostname === "")
    throw new RalphError(`${name}: expected an address that starts with redis://, rediss:// or postgres://`, {
      code: "fleet_invalid",
    });
  return {
    url,
    kind,
    shown: shownUrl(parsed),
    leaseMs: leaseFrom(fleet.lease, env),
    maxCostPerDay: fleet.maxCostPerDay,
  };
}

/** Neither the password nor what stands behind the `?`, where one may be, too. */
function shownUrl({ protocol, username, host, pathname }: URL): string {
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
}

function leaseFrom(
  setting: string | number | undefined,
  { RALPH_FLEET_LEASE: given }: NodeJS.ProcessEnv,
): number {
  const value = given || setting;
  if (value === undefined) return LEASE_MS;
  const ms = parseDuration(value);
  if (ms !== undefined && ms >= LEAST_LEASE_MS) return ms;
  throw invalid(
    given ? "RALPH_FLEET_LEASE" : "fleet.lease",
    String(value),
    "a duration of at least 1s, such as 60s",
  );
}
