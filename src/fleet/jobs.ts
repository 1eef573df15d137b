import { rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { claimName, LAST, writableHome } from "../records/home.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { loadSettings } from "../settings/load.js";
import { giveBack, ledgerKey } from "./budget.js";
import { type Engine, type FleetAddress, type FleetJob, fleetAddress, openEngine } from "./engine.js";
import {
  enginePriority,
  entryKey,
  type JobData,
  type JobEntry,
  type JobProgress,
  QUEUES_KEY,
  queueName,
} from "./job.js";
import { downloadRun } from "./records.js";
import { change } from "./store.js";

/** The jobs of a fleet, for those who submit them and look after them. */

/** So many of the newest are copied for those who look at all. */
const MOST_COPIED = 200;
const COPY_MS = 1000;

const RETRIES = { attempts: 5, backoff: { type: "fixed", delay: 5000 } };

export async function submitJob(engine: Engine, job: JobData): Promise<void> {
  const queue = queueName(job);
  await engine.store.swap(entryKey(job.id), 0, { queue, job } satisfies JobEntry);
  await change<{ names: string[] }>(engine.store, QUEUES_KEY, ({ names } = { names: [] }) =>
    names.includes(queue) ? undefined : { names: [...names, queue] },
  );
  await addToQueue(engine, queue, job);
}

async function addToQueue(engine: Engine, queue: string, job: JobData): Promise<void> {
  await engine
    .queue(queue)
    .add(job.name, job, { jobId: job.id, priority: enginePriority(job.priority), ...RETRIES });
}

/** By its id, the beginning of it, its name, or `last`. */
export async function findJob({ store, shown }: Engine, name: string): Promise<JobEntry> {
  const ids = (await store.keys("run")).map((key) => key.slice(entryKey("").length));
  const wanted = name === LAST ? ids.slice(-1) : ids.filter((id) => id.startsWith(name));
  const found = wanted.includes(name) ? [name] : wanted;
  if (found.length > 1) throw unknown(`several jobs begin with ${name}`);
  const entries = await store.get((found.length === 1 ? found : ids).map(entryKey));
  const all = entries.map((document) => document?.value as JobEntry);
  const entry = found.length === 1 ? all[0] : all.findLast((one) => one.job.name === name);
  if (entry === undefined) throw unknown(`no job is called ${name} in the fleet at ${shown}`);
  return entry;
}

function unknown(what: string): RalphError {
  return new RalphError(what, { code: "job_unknown", hint: "ralph fleet ls lists them" });
}

export interface Standing {
  entry: JobEntry;
  /** undefined: it was cancelled while it waited. */
  job: FleetJob | undefined;
  /** In the words of `ralph status`, and `queued`, `failed` and `cancelled`. */
  status: string;
  progress: Partial<JobProgress>;
}

/** Where a job stands, as its worker and the engine tell it. */
export async function standingOf(engine: Engine, entry: JobEntry): Promise<Standing> {
  const queue = engine.queue(entry.queue);
  // In this order: a job that ends between the two questions has its end with it.
  const state = await queue.getJobState(entry.job.id);
  const job = await queue.getJob(entry.job.id);
  const progress = (typeof job?.progress === "object" ? job.progress : {}) as Partial<JobProgress>;
  return { entry, job, progress, status: statusOf(state, job, entry, progress) };
}

function statusOf(
  state: string,
  job: FleetJob | undefined,
  { cancelled }: JobEntry,
  { status }: Partial<JobProgress>,
): string {
  if (cancelled) return "cancelled";
  if (state === "failed") return "failed";
  if (state === "completed") return job?.returnvalue?.finished ? "finished" : "cancelled";
  // It is unknown while it goes into the queue.
  if (state !== "active" || job === undefined) return "queued";
  return status === undefined || status === "queued" || status === "finished" ? "running" : status;
}

export const isOver = ({ status }: Standing): boolean => ["finished", "failed", "cancelled"].includes(status);

/** All jobs, the oldest first; with `count`, the newest so many. */
export async function jobsOf(engine: Engine, count?: number): Promise<Standing[]> {
  const entries = await entriesOf(engine, count);
  return Promise.all(entries.map(({ entry }) => standingOf(engine, entry)));
}

async function entriesOf({ store }: Engine, count = Number.POSITIVE_INFINITY) {
  const keys = (await store.keys("run")).slice(-count);
  const documents = keys.length === 0 ? [] : await store.get(keys);
  return documents.map((one) => ({ entry: one?.value as JobEntry, version: one?.version }));
}

/** The records of a job, as far as the store has them, where the commands for local runs read them. */
export async function recordsOf(
  engine: Engine,
  home: string,
  standing: Standing,
  isWhole = false,
): Promise<RunFolder> {
  const isNeeded = (file: string): boolean => isWhole || !/(^|\/)iterations\//.test(file);
  const { id, name } = standing.entry.job;
  if (!runFolder(home, id).isThere() && standing.job !== undefined) claimName(home, id, name);
  const run = await downloadRun(engine.store, home, id, isNeeded);
  if (isOver(standing)) rmSync(run.elsewhere, { force: true });
  else writeFileSync(run.elsewhere, "", { mode: 0o600 });
  return run;
}

/** Copies the records of all jobs that are open, or have ended since, again and again. */
async function copyRecords(engine: Engine, home: string, stop: AbortSignal): Promise<void> {
  /** Jobs that have ended, by the version of their entry: one that goes on has a new one. */
  const ended = new Map<string, number | undefined>();
  const copy = async ({ entry, version }: Awaited<ReturnType<typeof entriesOf>>[number]): Promise<void> => {
    if (ended.get(entry.job.id) === version) return;
    const standing = await standingOf(engine, entry);
    await recordsOf(engine, home, standing, true);
    if (isOver(standing)) ended.set(entry.job.id, version);
  };
  while (!stop.aborted) {
    // What the engine does not tell now, it tells the next time.
    for (const one of await entriesOf(engine, MOST_COPIED).catch(() => [])) await copy(one).catch(() => {});
    await sleep(COPY_MS, undefined, { signal: stop }).catch(() => {});
  }
}

/** Ends a job that waits for a worker; false: one has it. */
export async function removeWaiting(
  { store }: Engine,
  { entry, job, progress: { costUsd = 0 } }: Standing,
): Promise<boolean> {
  try {
    await job?.remove();
  } catch {
    return false;
  }
  // Its worker may have died.
  await giveBack(store, ledgerKey(new Date()), entry.job.id, costUsd);
  await change<JobEntry>(store, entryKey(entry.job.id), () => ({ ...entry, cancelled: true }));
  return true;
}

/** Puts a job that has ended back, to go on after its last end. */
export async function goOn(
  engine: Engine,
  { entry, job, status }: Standing,
  changes: Partial<JobData>,
): Promise<void> {
  const data = { ...(job?.data ?? entry.job), ...changes };
  await change<JobEntry>(engine.store, entryKey(data.id), () => ({ queue: entry.queue, job: data }));
  // The engine knows it as ended, and takes no second one of the same id.
  if (job !== undefined && status !== "queued") await job.remove();
  await addToQueue(engine, entry.queue, data);
}

/** The engine of the settings of this folder, for as long as something is done with it. */
export async function withFleet<Result>(action: (engine: Engine) => Promise<Result>): Promise<Result> {
  const { settings } = await loadSettings(process.cwd());
  return withEngine(fleetAddress(settings, process.env), action);
}

export async function withEngine<Result>(
  address: FleetAddress,
  action: (engine: Engine) => Promise<Result>,
  options = {},
): Promise<Result> {
  const engine = await openEngine(address, options);
  try {
    return await action(engine);
  } finally {
    await engine.close();
  }
}

/** Copies the records of the fleet for the dashboard, where a fleet is configured. Returns what ends that. */
export async function copyFleet(): Promise<() => void> {
  const stop = new AbortController();
  const { settings } = await loadSettings(process.cwd());
  if (!process.env["RALPH_FLEET"] && settings.fleet?.url === undefined) return () => {};
  const engine = await openEngine(fleetAddress(settings, process.env), { lasting: true });
  void copyRecords(engine, writableHome(), stop.signal).then(() => engine.close());
  return () => stop.abort();
}

/** Brings the records of a job here as they are now; nothing where no fleet is configured. */
export async function fetchRecords(name: string): Promise<void> {
  const { settings } = await loadSettings(process.cwd());
  if (!process.env["RALPH_FLEET"] && settings.fleet?.url === undefined) return;
  await withEngine(fleetAddress(settings, process.env), async (engine) => {
    const entry = await findJob(engine, name).catch(() => undefined);
    if (entry !== undefined) await recordsOf(engine, writableHome(), await standingOf(engine, entry), true);
  });
}
