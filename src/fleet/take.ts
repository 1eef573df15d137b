import { statSync } from "node:fs";
import { toRalphError } from "../errors.js";
import type { LeaseLost, LoopEvent, RunFinished } from "../events.js";
import { killTree } from "../process/kill.js";
import { openJournal } from "../records/journal.js";
import type { RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import { hostRun } from "../run/terminal.js";
import { attend } from "./attend.js";
import { accountsOf, giveBack, keepLimits, ledgerKey, limitsIn, reserve } from "./budget.js";
import { type Claim, type ClaimState, holdLease, type WorkerContext } from "./claim.js";
import type { FleetJob } from "./engine.js";
import { CLAIM_VARIABLE, JOB_VERSION, type JobProgress } from "./job.js";
import { fetchCommit, openRemote, ownRepository, type Remote, takeBranch } from "./remote.js";
import {
  type ClaimSite,
  claimEnvironment,
  claimName,
  earlierRecords,
  hasRoom,
  makeWorktree,
  prepareClaim,
  removeSite,
  siteOf,
} from "./site.js";
import { controlOf } from "./store.js";

/** Why a job waits, and until when it is left alone. */
class PutOff extends Error {
  constructor(
    readonly why: string,
    readonly until: number,
  ) {
    super(why);
  }
}

/** So soon another worker may take a job for which this one has no room. */
const AGAIN_MS = 1000;

/** Takes a job that the engine has given to this worker, and brings it to its end or gives it back. */
export function claimJob(context: WorkerContext, job: FleetJob, token: string): Claim {
  const { id } = job.data;
  const claim: Omit<ClaimState, "epoch" | "lease"> = {
    ...{ context, job, token, stop: new AbortController(), kill: new AbortController() },
    ...{ wanted: {}, isDraining: false, accounts: {} },
    isAlive: () => true,
    heed: () => {},
  };
  const endNow = (): void => {
    claim.stop.abort();
    claim.kill.abort();
  };
  const done = bringToEnd(claim, endNow).catch((error) => context.say(`${id}: ${(error as Error).message}`));
  return {
    id,
    done,
    accounts: () => Object.values(claim.accounts),
    control(wanted) {
      claim.wanted = wanted;
      if (wanted.cancelled) endNow();
      claim.heed();
    },
    drain() {
      claim.isDraining = true;
      claim.heed();
    },
    leave() {
      claim.isDraining = true;
      endNow();
    },
  };
}

async function bringToEnd(begun: Omit<ClaimState, "epoch" | "lease">, endNow: () => void): Promise<void> {
  const { context, job, token } = begun;
  const { engine, say } = context;
  const { id } = job.data;
  const epoch = await engine.store.raiseEpoch(id);
  const name = claimName(id, epoch);
  const lease = holdLease({
    ...{ job, token, leaseMs: engine.leaseMs },
    isAlive: () => claim.isAlive(),
    watch: (ms) => context.watch(name, ms),
    onLost(why) {
      say(`${id}: the lease is lost: ${why}`);
      endNow();
      void killTree({ marker: `${CLAIM_VARIABLE}=${name}` }, 0);
    },
  });
  const claim: ClaimState = Object.assign(begun, { epoch, lease });
  try {
    await work(claim);
  } catch (error) {
    if (!lease.isLost()) await giveUp(claim, error);
  } finally {
    await lease.release();
  }
}

/** The job is not begun, or cannot go on here. The engine tries it again some times, here or elsewhere. */
async function giveUp(
  { context, job, token, lease, isDraining }: ClaimState,
  error: unknown,
): Promise<unknown> {
  await lease.close();
  if (isDraining) return job.moveToWait(token);
  const putOff = async ({ why, until }: PutOff): Promise<unknown> => {
    await job.updateProgress({ ...(job.progress as JobProgress), status: "queued", waits: why });
    return job.moveToDelayed(until, token);
  };
  if (error instanceof PutOff) return putOff(error);
  const known = toRalphError(error) ?? (error as Error);
  context.say(`${job.data.id}: ${known.message}`);
  // Others may have room, and this worker takes nothing until it has some.
  if (!hasRoom(context.home)) return putOff(new PutOff(known.message, Date.now() + AGAIN_MS));
  return job.moveToFailed(known, token, false);
}

async function work(claim: ClaimState): Promise<void> {
  const { context, job, epoch, lease } = claim;
  const { engine, home, credentials } = context;
  const { data } = job;
  if (data.v > JOB_VERSION) throw new PutOff("it needs a newer ralph", Date.now() + engine.leaseMs);
  claim.wanted = await controlOf(engine.store, data.id);
  const remote = await openRemote(home, data.remote, credentials);
  const site = siteOf(home, data.id, epoch);
  const earlier = await earlierRecords(engine.store, site, data.id);
  const last = earlier?.lastEvent();
  const isEnd = last?.type === "run.finished" && last.lane === undefined && last.ts !== data.goesOnFrom;
  try {
    // Its worker died when the run had ended, or nobody wants it any more.
    if (!isEnd && !claim.wanted.cancelled) await run(claim, site, remote, earlier);
    else {
      // The worker that had it has died.
      const { costUsd } = earlier?.state() ?? { costUsd: 0 };
      await giveBack(engine.store, ledgerKey(new Date()), data.id, costUsd);
      await complete(claim, isEnd ? last : null);
    }
  } finally {
    // Of a lost lease, everything stays for people to look at.
    if (!lease.isLost()) await removeSite(site);
  }
}

async function run(
  claim: ClaimState,
  site: ClaimSite,
  remote: Remote,
  earlier: RunFolder | undefined,
): Promise<void> {
  const { context, job, epoch, lease, stop, kill } = claim;
  const { data } = job;
  const { say, name: worker } = context;
  const state = earlier?.state();
  const budget = await setAside(claim, state);
  try {
    await fetchCommit(remote, data.base);
    const branch = await takeBranch(await ownRepository(remote, site.repository), data, epoch);
    if (branch === undefined) return lease.lose("another worker has taken the branch");
    await makeWorktree(site, data, branch);
    const stored = earlier === undefined ? 0 : statSync(earlier.journal).size;
    if (earlier !== undefined && data.goesOnFrom === undefined)
      recordLost(earlier, {
        worker: (job.progress as JobProgress).worker ?? "",
        epoch: epoch - 1,
        why: `${worker} continues`,
      });
    const tell = (text: string): void => say(`${data.id}: ${text}`);
    const prepared = await prepareClaim(site, data, earlier, { signal: stop.signal, tell });
    claim.accounts = await accountsOf(prepared);
    const accounts = [...new Set(Object.values(claim.accounts))];
    keepLimits(context.limits, accounts, await context.engine.store.get(accounts));
    if (claim.isDraining || claim.wanted.cancelled) throw new PutOff("", Date.now());
    const attendance = attend(claim, { site, branch, prepared, stored });
    await hostRun(
      prepared,
      {
        home: site.home,
        env: claimEnvironment(site),
        ...attendance.host,
        limits: () => ({
          ...prepared.spec.limits,
          ...(budget.limit !== undefined && { maxCostUsd: budget.limit }),
        }),
        limited: () => limitsIn(claim.accounts, context.limits),
        attendance: { keepAwake: false, verbose: false },
      },
      { stop: stop.signal, kill: kill.signal },
    );
    const { finished, folder, unpushed, broken } = await attendance.end();
    if (finished !== undefined) budget.spent(finished.costUsd);
    if (lease.isLost()) return recordLost(folder ?? earlier, { worker, epoch, why: "this worker lost it" });
    if (broken !== undefined) throw new Error(broken);
    if (finished !== undefined) await complete(claim, finished, unpushed);
  } finally {
    if (!lease.isLost()) await budget.giveBack();
  }
}

type Finished = LoopEvent & RunFinished;

/** Hands the job back where the worker leaves, and closes it with the end of its run otherwise. */
async function complete(
  { job, token, lease, isDraining, wanted }: ClaimState,
  finished: Finished | null,
  unpushed?: string,
): Promise<unknown> {
  await lease.close();
  const cancelled = wanted.cancelled === true;
  if (isDraining && finished?.reason === "interrupted" && !cancelled) return job.moveToWait(token);
  return job.moveToCompleted({ finished, cancelled, ...(unpushed && { unpushed }) }, token, false);
}

/** In the journal, for everybody who reads it. */
function recordLost(folder: RunFolder | undefined, lost: Omit<LeaseLost, "type">): void {
  if (folder === undefined) return;
  const journal = openJournal(folder.journal);
  const event = { v: 1, type: "lease.lost", ts: new Date().toISOString(), run: folder.id, ...lost };
  journal.append("lease.lost", JSON.stringify(event));
  journal.close();
}

/** Sets aside what the run may cost, of the day's budget and of the worker's. `limit`: its own then. */
async function setAside({ context, job }: ClaimState, state: RunState | undefined) {
  const { engine, allowance } = context;
  const { store, maxCostPerDay: cap, leaseMs } = engine;
  const { id, request } = job.data;
  const key = ledgerKey(new Date());
  const wish = request.limits.maxCostUsd;
  const spent = state?.costUsd ?? 0;
  const later = Date.now() + leaseMs / 2;
  const granted =
    cap === undefined ? (wish ?? undefined) : await reserve(store, key, { id, cap, limit: wish, spent });
  if (cap !== undefined && granted === undefined)
    throw new PutOff("the budget of the day is set aside", later);
  const isLimited = Number.isFinite(allowance.left);
  const own = granted === undefined ? allowance.left : granted - spent;
  let cost: number | null = spent;
  const release = async (): Promise<void> => {
    if (cap !== undefined) await giveBack(store, key, id, cost);
  };
  if (isLimited && (own > allowance.left || own <= 0)) {
    await release();
    throw new PutOff("the budget of the worker is set aside", later);
  }
  if (isLimited) allowance.left -= own;
  return {
    limit: granted ?? (isLimited ? spent + own : undefined),
    spent(usd: number | null): void {
      cost = usd;
    },
    async giveBack(): Promise<void> {
      if (isLimited && cost !== null) allowance.left += own - (cost - spent);
      if (isLimited && allowance.left <= 0)
        context.say("--max-cost is used up: the worker takes no more jobs");
      await release();
    },
  };
}
