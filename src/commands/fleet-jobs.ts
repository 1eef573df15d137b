import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDuration } from "../duration.js";
import type { Engine } from "../fleet/engine.js";
import {
  findJob,
  goOn,
  isOver,
  jobsOf,
  recordsOf,
  removeWaiting,
  type Standing,
  standingOf,
  withFleet,
} from "../fleet/jobs.js";
import { type Control, changeControl, controlOf } from "../fleet/store.js";
import { writableHome } from "../records/home.js";
import type { NetFlags } from "../run/spec.js";
import { DEFAULT_LIMITS, limitsFrom, saysSomething, wholeNumber } from "../settings/limits.js";
import { costCell } from "../views/figures.js";
import { harmlessLine } from "../views/harmless.js";
import { tableLines } from "../views/layout.js";
import { DEFAULT_LINES, type LogFlags, logsOfRun } from "./follow.js";
import { failure, printAs, say, warn } from "./output.js";

/** What is done with the jobs of a fleet. */

const ROWS = 20;

/** `ralph fleet ls`: the jobs, the newest first. */
export async function ls(flags: { json?: boolean; all?: boolean; count?: string }): Promise<number> {
  const count = flags.count === undefined ? ROWS : wholeNumber("-n", flags.count, 1);
  return withFleet(async (engine) => {
    const jobs = (await jobsOf(engine, flags.all ? undefined : count)).reverse();
    return printAs(flags, jobs.map(rowOf), () => table(jobs));
  });
}

function rowOf({ entry: { job }, status, progress, job: queued }: Standing) {
  const { id, name, remote, branch, base, tags, priority, createdAt, by, request } = job;
  const { reason = null } = queued?.returnvalue?.finished ?? {};
  const { worker = null, iterations = 0, costUsd = null, activeMs = 0, waits = null } = progress;
  const where = { remote, branch, base, tags, priority, by };
  const standing = { status, reason, iterations, costUsd, durationMs: activeMs, worker, waits };
  return { id, name, recipe: request.recipe.kind, ...standing, createdAt, ...where };
}

function table(jobs: Standing[]): string[] {
  if (jobs.length === 0) return ["No jobs yet. Submit one with: ralph fleet submit loop TASK --check CMD"];
  const cells = jobs.map((standing) => {
    const { id, name, status, reason, waits, iterations, durationMs, costUsd, worker } = rowOf(standing);
    const shown =
      status === "finished"
        ? (reason ?? status)
        : waits === null || status !== "queued"
          ? status
          : `queued: ${waits}`;
    return [
      id,
      name,
      shown,
      String(iterations),
      formatDuration(durationMs),
      costCell(costUsd),
      worker ?? "-",
    ];
  });
  const head = ["JOB", "NAME", "STATUS", "ITER", "TIME", "COST", "WORKER"];
  return tableLines([head, ...cells], { width: process.stdout.columns, right: [3, 4, 5] });
}

/** Exit 0 while it is one of these. */
const OPEN = ["queued", "running", "paused", "waiting"];

/** `ralph fleet status JOB`: the fields of `ralph status`, and of `run.finished` where it has ended. */
export async function status(name: string, flags: { json?: boolean }): Promise<number> {
  return withJob(name, async (engine, standing) => {
    const json = await statusOf(engine, standing);
    return printAs(flags, json, () => factsOf(standing, json), OPEN.includes(standing.status) ? 0 : 1);
  });
}

async function statusOf(engine: Engine, standing: Standing) {
  const { entry, status, progress, job: queued } = standing;
  const { id, name, remote, branch, base, request } = entry.job;
  const state = (await recordsOf(engine, writableHome(), standing)).state();
  const { finished = null, unpushed = null } = queued?.returnvalue ?? {};
  const {
    type: _,
    v: __,
    ts: endedAt = null,
    run: ___,
    ...end
  } = finished ?? ({} as Partial<NonNullable<typeof finished>>);
  const { answer } = await controlOf(engine.store, id);
  return {
    ...{ kind: "run", name, run: id, status, reason: null, question: null },
    ...{
      iterations: state?.iterations ?? 0,
      costUsd: state?.costUsd ?? null,
      answered: answer !== undefined,
    },
    ...end,
    ...{ endedAt, maxIterations: request.limits.maxIterations, worker: progress.worker ?? null },
    ...{
      waits: progress.waits ?? null,
      failure: queued?.failedReason ?? null,
      unpushed,
      remote,
      branch,
      base,
    },
  };
}

function factsOf(standing: Standing, json: Awaited<ReturnType<typeof statusOf>>): string[] {
  const { name, run, status, iterations, maxIterations, costUsd, worker, waits, branch, remote } = json;
  const { reason, question, answered, failure: why, unpushed } = json as Record<string, unknown>;
  const facts: [name: string, value: unknown][] = [
    ["Ralph Loop", name],
    ["Run", run],
    ["Status", status],
    ["Waits", status === "queued" ? waits : null],
    ["Iteration", `${iterations + (status === "running" ? 1 : 0)}/${maxIterations}`],
    ["Cost", costUsd === null ? null : costCell(costUsd)],
    ["Worker", worker],
    ["Branch", `${branch} of ${remote}`],
    ["Reason", reason],
    ["Failed", why || null],
    ["Not pushed", unpushed],
    ["Question", (question as { text?: string } | null)?.text],
    ["Answered", answered && isOver(standing) ? `ralph fleet resume ${name} continues it` : null],
    ["Answer with", question && !answered ? `ralph fleet answer ${name} "TEXT"` : null],
  ];
  return facts.flatMap(([fact, value]) => (value == null ? [] : harmlessLine(`${fact}: ${value}`)));
}

const SYNC_MS = 500;

/** `ralph fleet logs JOB`: its events, as the terminal shows them that a local run is in. */
export async function logs(name: string, flags: LogFlags): Promise<number> {
  const count = flags.lines === undefined ? DEFAULT_LINES : wholeNumber("--lines", flags.lines, 1);
  return withFleet(async (engine) => {
    const entry = await findJob(engine, name);
    const home = writableHome();
    const run = await recordsOf(engine, home, await standingOf(engine, entry));
    if (!flags.follow) return logsOfRun(run, count, flags, () => true);
    let hasEnded = false;
    const follow = async (): Promise<void> => {
      for (; !hasEnded; await sleep(SYNC_MS)) {
        const standing = await standingOf(engine, entry);
        // What was written until then is there before the look ends.
        await recordsOf(engine, home, standing);
        hasEnded = isOver(standing);
      }
    };
    const following = follow().finally(() => {
      hasEnded = true;
    });
    const code = await logsOfRun(run, count, flags, () => hasEnded);
    await following;
    return code;
  });
}

function withJob<Result>(
  name: string,
  action: (engine: Engine, standing: Standing) => Promise<Result>,
): Promise<Result> {
  return withFleet(async (engine) => action(engine, await standingOf(engine, await findJob(engine, name))));
}

/** Changes what people want of a job that has not ended. */
async function change(
  engine: Engine,
  standing: Standing,
  update: (before: Control) => Control,
): Promise<void> {
  const { id, name } = standing.entry.job;
  if (isOver(standing)) throw failure("job_ended", `${name} has ended (${standing.status})`, undefined, 1);
  await changeControl(engine.store, id, update);
}

/** The same, and says that it is done. */
function want(name: string, update: (before: Control) => Control, done: string): Promise<number> {
  return withJob(name, async (engine, standing) => {
    await change(engine, standing, update);
    return say(`${done} ${standing.entry.job.name}`);
  });
}

/** `ralph fleet pause JOB`: the agent at work finishes first. */
export function pause(name: string): Promise<number> {
  return want(name, (before) => ({ ...before, paused: true }), "pausing");
}

/** `ralph fleet steer JOB TEXT`: tells the next iteration something, once. */
export function steer(name: string, text: string): Promise<number> {
  saysSomething("TEXT", text);
  const said = { id: randomUUID(), text };
  const update = (before: Control): Control => ({ ...before, steering: [...(before.steering ?? []), said] });
  return want(name, update, "the next iteration gets this text:");
}

/** `ralph fleet cancel JOB`: ends the run and its agent, wherever it is. */
export async function cancel(name: string): Promise<number> {
  return withJob(name, async (engine, standing) => {
    const { job } = standing.entry;
    // A worker may take it at this moment.
    await change(engine, standing, (before) => ({ ...before, cancelled: true }));
    const hasWaited = standing.status === "queued" && (await removeWaiting(engine, standing));
    return say(hasWaited ? `cancelled ${job.name}` : `cancelling ${job.name}: its worker ends the agent now`);
  });
}

/** `ralph fleet answer JOB TEXT`: keeps the answer to what the agent asked, for when the run goes on. */
export async function answer(name: string, text: string): Promise<number> {
  saysSomething("TEXT", text);
  return withJob(name, async (engine, standing) => {
    const { job } = standing.entry;
    const question = standing.job?.returnvalue?.finished?.question;
    if (question === undefined || standing.status !== "finished") {
      const hint = isOver(standing)
        ? "you can answer only a run that stopped with a question"
        : `it has not ended: ralph fleet steer ${job.name} TEXT adds to its next prompt`;
      throw failure("nothing_asked", `${job.name} has not asked anything`, hint, 1);
    }
    const said = { id: randomUUID(), text, question };
    await changeControl(engine.store, job.id, (before) => ({ ...before, answer: said }));
    return say(`answered; ralph fleet resume ${job.name} continues it`);
  });
}

/** `ralph fleet resume JOB`: ends a pause, or puts a job back that has ended, with its limits raised where given. */
export async function resume(name: string, flags: NetFlags): Promise<number> {
  return withJob(name, async (engine, standing) => {
    const { entry, job: queued, status } = standing;
    const { job } = entry;
    const { paused = false, answer: given } = await controlOf(engine.store, job.id);
    const isGiven = Object.keys(flags).length > 0;
    if (!isOver(standing)) {
      if (isGiven)
        throw failure(
          "flag_invalid",
          `you cannot change the limits while ${job.name} is ${status}`,
          `ralph fleet cancel ${job.name} ends it`,
        );
      if (!paused) return warn(`${job.name} is ${status} and not paused`);
      await changeControl(engine.store, job.id, (before) => ({ ...before, paused: false }));
      return say(`resumed ${job.name}`);
    }
    const end = queued?.returnvalue?.finished;
    if (end?.success) throw failure("run_completed", `run ${job.id} is completed`, "submit a new one", 1);
    if (end?.question !== undefined && given === undefined)
      throw failure(
        "answer_missing",
        `${job.name} waits for an answer: ${end.question.text}`,
        `ralph fleet answer ${job.name} "TEXT" answers it`,
      );
    const limits = limitsFrom(flags, { ...DEFAULT_LIMITS, ...job.request.limits });
    await changeControl(engine.store, job.id, ({ paused: _, cancelled: __, ...before }) => before);
    await goOn(engine, standing, { request: { ...job.request, limits }, ...(end && { goesOnFrom: end.ts }) });
    return say(`${job.name} waits for a worker again`);
  });
}
