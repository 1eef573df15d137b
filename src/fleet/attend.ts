import { rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import type { LoopEvent, RunFinished } from "../events.js";
import { loopOf } from "../records/lanes.js";
import { OWN_AGENT } from "../records/limited.js";
import type { RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import { addSteering, storeAnswer } from "../records/words.js";
import type { PreparedRun, RunSpec } from "../run/spec.js";
import type { ShowOptions } from "../run/terminal.js";
import { CHECK_TIMEOUT_MS } from "../settings/limits.js";
import { type ByEvent, shownBy, type View } from "../views/view.js";
import { shareLimit } from "./budget.js";
import { type ClaimState, lifeOf } from "./claim.js";
import type { JobProgress } from "./job.js";
import { type Upload, uploadOf } from "./records.js";
import type { Branch } from "./remote.js";
import { type ClaimSite, hasRoom, pusherOf } from "./site.js";
import { changeControl } from "./store.js";

const UPLOAD_MS = 500;

type Finished = LoopEvent & RunFinished;

interface AttendSetup {
  site: ClaimSite;
  branch: Branch;
  prepared: PreparedRun;
  /** How much of the journal the store has. */
  stored: number;
}

/** What a claim does while its run is active: it hears every event before the loop goes on. */
export function attend(claim: ClaimState, { site, branch, prepared, stored }: AttendSetup) {
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
  let standing: Readonly<RunState> | undefined;
  const timer = setInterval(() => {
    void upload?.journal();
    // No agent runs: its iterations are finished, and the job may go back.
    if (claim.isDraining && standing !== undefined && !isAtWork(standing, spec)) claim.stop.abort();
  }, UPLOAD_MS);
  const pushes = setInterval(() => void pusher.forward(), leaseMs);

  const end = async (event: Finished): Promise<void> => {
    finished = event;
    broken = whyBroken(claim, folder, event);
    if (broken !== undefined) return;
    unpushed = await pusher.last(event.success ? event.branch : undefined);
    if (lease.isLost()) return;
    // The worker that takes it next goes on, and does not take this end for the end of the job.
    if (claim.isDraining && event.reason === "interrupted" && !claim.wanted.cancelled)
      await job.updateData({ ...job.data, goesOnFrom: event.ts });
    for (const who of [OF_RUN, ...Object.keys(standing?.lanes ?? {})]) upload?.release(who);
    await upload?.all();
  };
  const handlers = handlersOf(claim, { site, spec, pusher, heard, upload: () => upload, end });
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
        standing = state;
        tellProgress(claim, event, state);
        if (saysDone(event)) upload?.hold(event.lane ?? OF_RUN);
        const handling = handled.then(() => shownBy(handlers, event, state));
        handled = handling.catch((error) => context.say(`${job.data.id}: ${(error as Error).message}`));
        return handling;
      },
      note: (text) => context.say(`${job.data.id}: ${text}`),
      close: () => {},
    };
  };
  const host: Pick<ShowOptions, "view" | "alive"> = { view, alive: () => life.touch(now()) };
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

/** Why the end of a run is none of its job; undefined: it is. */
function whyBroken(
  { wanted, context }: ClaimState,
  records: RunFolder | undefined,
  event: Finished,
): string | undefined {
  if (records?.lastEvent()?.ts !== event.ts) return event.message ?? "its records cannot be written";
  // Others may have room.
  if (event.success || wanted.cancelled || hasRoom(context.home)) return undefined;
  return "no space left on the disk";
}

/** Who holds the journal for the run as a whole, and not for a lane. */
const OF_RUN = "";

/** Records do not go ahead of the work that they tell of: another worker would never do it. */
function saysDone(event: LoopEvent): boolean {
  if (event.type === "iteration.finished") return event.stop !== undefined;
  return event.type === "run.finished" || event.type === "landing.landed";
}

/** Whether a loop has not come to the end of its iteration. */
function isAtWork(state: Readonly<RunState>, { lanes }: RunSpec): boolean {
  const loops = lanes === undefined ? [state] : Object.values(state.lanes ?? {}).map((one) => one.state);
  return loops.some(({ status }) => status === "running");
}

interface Parts {
  site: ClaimSite;
  spec: RunSpec;
  pusher: ReturnType<typeof pusherOf>;
  heard: ReturnType<typeof wordsFor>;
  upload(): Upload | undefined;
  /** The run has ended: its work and its records go where others find them. */
  end(event: Finished): Promise<void>;
}

/** What has to be safe before the loop goes on. */
function handlersOf(
  claim: ClaimState,
  { site, spec, pusher, heard, upload, end }: Parts,
): ByEvent<[state: Readonly<RunState>], Promise<void> | undefined> {
  const { context, lease } = claim;
  /** A lane has come to its end, or its work has landed. */
  const keep = async ({ lane = OF_RUN }: LoopEvent): Promise<void> => {
    await pusher.last();
    if (lease.isLost()) return;
    upload()?.release(lane);
    await upload()?.all();
  };
  return {
    // The worker that continues it needs the task.
    "run.started": () => upload()?.all(),
    "agent.started": () => lease.ensure(),
    async "agent.finished"(event, state) {
      await shareLimits(claim, spec, event, state);
      await upload()?.journal();
    },
    "iteration.started": ({ steering }) => heard.taken(steering !== undefined),
    async "iteration.finished"({ run, lane = "", iteration, stop }, state) {
      // Its work is pushed with the end of its loop.
      if (stop !== undefined) return;
      const worktree = state.lanes?.[lane]?.worktree ?? site.worktree;
      await pusher.whole(
        worktree,
        `Work of ralph run ${run}, iteration ${iteration}`,
        context.engine.leaseMs,
      );
      await upload()?.all();
    },
    "landing.landed": keep,
    "lane.blocked": keep,
    "run.finished": (event) => (event.lane === undefined ? end(event) : keep(event)),
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
  { lanes }: RunSpec,
  event: LoopEvent,
  state: Readonly<RunState>,
): Promise<void> {
  // The own agent of a lane in a race is one of the run's.
  const own =
    (lanes?.kind === "race" && lanes.lanes.find(({ name }) => name === event.lane)?.role) || OWN_AGENT;
  for (const [role, limit] of Object.entries(loopOf(state, event).limited)) {
    const account = accounts[role === OWN_AGENT ? own : role];
    if (account === undefined || limit.kind !== "limit") continue;
    await shareLimit(context.engine.store, account, limit).catch(() => {});
  }
}

/** Brings what people want to the loop, as its own commands would. */
function wordsFor(claim: ClaimState) {
  const { context, job } = claim;
  const said = new Set<string>();
  return {
    heed(folder: RunFolder): void {
      const { paused = false, steering = [], answer } = claim.wanted;
      if (paused || claim.isDraining) writeFileSync(folder.pause, "", { flag: "a", mode: 0o600 });
      else rmSync(folder.pause, { force: true });
      for (const { id, text } of steering.filter((one) => !said.has(one.id))) {
        said.add(id);
        addSteering(folder, text);
      }
      if (answer === undefined || said.has(answer.id)) return;
      said.add(answer.id);
      storeAnswer(folder, answer.question, answer.text);
    },
    /** The journal has them, so that no later worker says them again. */
    async taken(isSaid: boolean): Promise<void> {
      if (!isSaid) return;
      await changeControl(context.engine.store, job.data.id, ({ answer, steering = [], ...others }) => ({
        ...others,
        steering: steering.filter(({ id }) => !said.has(id)),
        ...(answer !== undefined && !said.has(answer.id) && { answer }),
      }));
    },
  };
}
