import { hostname } from "node:os";
import type { LoopEvent, RunFinished } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import type { PreparedRun } from "../run/spec.js";
import type { Showing } from "../run/terminal.js";
import { CHECK_TIMEOUT_MS } from "../settings/limits.js";
import { type ByEvent, shownBy, type View } from "../views/view.js";
import { shareLimit } from "./accounts.js";
import type { ClaimState } from "./claim.js";
import type { JobProgress } from "./job.js";
import { lifeOf } from "./life.js";
import { pusherOf } from "./push.js";
import type { Branch } from "./remote.js";
import type { Site } from "./site.js";
import { type Upload, uploadOf } from "./upload.js";
import { wordsFor } from "./words.js";

const UPLOAD_MS = 500;

type Finished = LoopEvent & RunFinished;

interface Attended {
  site: Site;
  branch: Branch;
  prepared: PreparedRun;
  /** How much of the journal the store has. */
  stored: number;
}

/** What a claim does while its run is at work: it hears every event before the loop goes on. */
export function attend(claim: ClaimState, { site, branch, prepared, stored }: Attended) {
  const { context, job, epoch, lease } = claim;
  const { store, leaseMs } = context.engine;
  const { spec } = prepared;
  const now = (): number => performance.now();
  const patience = { ...spec.limits, checkTimeoutMs: checkTimeoutOf(spec.recipe) };
  const life = lifeOf(patience, now());
  claim.isAlive = () => life.isAlive(now());
  const pusher = pusherOf(claim, site, branch);
  let folder: RunFolder | undefined;
  let upload: Upload | undefined;
  let finished: Finished | undefined;
  let unpushed: string | undefined;
  let broken: string | undefined;
  let handled: Promise<unknown> = Promise.resolve();
  const heard = wordsFor(claim);
  const timer = setInterval(() => void upload?.journal(), UPLOAD_MS);
  const pushes = setInterval(() => void pusher.forward(), leaseMs);

  const end = async (event: Finished): Promise<void> => {
    finished = event;
    // An end that could not be written down is no end of the job.
    if (folder?.lastEvent()?.ts !== event.ts) broken = event.message ?? "its records cannot be written";
    if (broken !== undefined) return;
    unpushed = await pusher.last();
    if (lease.isLost()) return;
    // The worker that takes it next goes on, and does not take this end for the end of the job.
    if (claim.isDraining && event.reason === "interrupted" && !claim.wanted.cancelled)
      await job.updateData({ ...job.data, goesOnFrom: event.ts });
    upload?.release();
    await upload?.files();
    await upload?.journal();
  };
  const handlers = handlersOf(claim, { pusher, heard, upload: () => upload, end });
  const view = (records: RunFolder): View => {
    folder = records;
    upload = uploadOf(store, records, epoch, stored, () => lease.lose("another worker writes its records"));
    claim.heed = () => heard.heed(records);
    claim.heed();
    return {
      event(event, state) {
        life.event(event, now());
        // How it ends here is not how the job ends.
        if (lease.isLost()) upload?.end();
        if (event.type === "agent.event" || lease.isLost()) return undefined;
        tellProgress(claim, event, state);
        if (event.type === "run.finished") upload?.hold();
        const handling = handled.then(() => shownBy(handlers, event, state));
        handled = handling.catch((error) => context.say(`${job.data.id}: ${(error as Error).message}`));
        return handling;
      },
      note: (text) => context.say(`${job.data.id}: ${text}`),
      close: () => {},
    };
  };
  const host: Pick<Showing, "view" | "alive"> = { view, alive: () => life.touch(now()) };
  return {
    host,
    /** When the run has ended: waits for what is under way. */
    async end() {
      await handled;
      clearInterval(timer);
      clearInterval(pushes);
      upload?.end();
      return { finished: lease.isLost() ? undefined : finished, folder, unpushed, broken };
    },
  };
}

interface Parts {
  pusher: ReturnType<typeof pusherOf>;
  heard: ReturnType<typeof wordsFor>;
  upload(): Upload | undefined;
  /** The run has ended: its work and its records go where others find them. */
  end(event: Finished): Promise<void>;
}

/** What has to be safe before the loop goes on. */
function handlersOf(
  claim: ClaimState,
  { pusher, heard, upload, end }: Parts,
): ByEvent<[state: Readonly<RunState>], Promise<void> | undefined> {
  const { context, lease } = claim;
  return {
    // Who goes on with it has to know what was asked.
    "run.started": () => upload()?.files(),
    "agent.started": () => lease.ensure(),
    async "agent.finished"(_, state) {
      await shareLimits(claim, state);
      await upload()?.journal();
    },
    "iteration.started": ({ steering }) => heard.taken(steering !== undefined),
    async "iteration.finished"({ run, iteration, stop }) {
      // Its work is pushed with the end of the run: the records do not go ahead of it.
      if (stop !== undefined) return upload()?.hold();
      await pusher.whole(`Work of ralph run ${run}, iteration ${iteration}`, context.engine.leaseMs);
      await upload()?.files();
      await upload()?.journal();
    },
    async "run.paused"() {
      if (claim.isDraining) claim.stop.abort();
    },
    "run.finished": end,
  };
}

function checkTimeoutOf(recipe: object): number {
  const timeouts = JSON.stringify(recipe).matchAll(/"(?:checkT|t)imeoutMs":(\d+)/g);
  return Math.max(CHECK_TIMEOUT_MS, ...[...timeouts].map(([, ms]) => Number(ms)));
}

/** Where the run stands, for lists: the engine keeps it with the job. */
function tellProgress(
  { context, job, epoch }: ClaimState,
  { type }: LoopEvent,
  state: Readonly<RunState>,
): void {
  if (!/^(run|iteration)\.|^limit/.test(type)) return;
  const { status, iterations, costUsd, activeMs } = state;
  const standing = { status, iterations, costUsd, activeMs: Math.round(activeMs) };
  const progress: JobProgress = { worker: context.name, host: hostname(), epoch, ...standing };
  // The next one says it again.
  job.updateProgress(progress).catch(() => {});
}

async function shareLimits(
  { context, accounts }: ClaimState,
  { limited }: Readonly<RunState>,
): Promise<void> {
  for (const [role, limit] of Object.entries(limited)) {
    const account = accounts[role];
    if (account === undefined || limit.kind !== "limit") continue;
    await shareLimit(context.engine.store, account, limit).catch(() => {});
  }
}
