import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { type LockHolder, livingLoops } from "../records/lock.js";
import { activeMsUntil, type RunState } from "../records/run-state.js";
import { runFolder } from "../records/runs.js";
import { listWorkers, type WorkerFolder } from "./folder.js";
import type { Glance, GlanceStatus } from "./glance.js";
import { type Standing, standingOf } from "./status.js";

/** Every worker, and every run that is at work without being one. Only what is on the disk is looked at. */
export function glances(home: string, warn: (text: string) => void): Glance[] {
  const workers = listWorkers(home).map((folder) => ({ folder, standing: standingOf(folder, home) }));
  for (const { folder, standing } of workers) warnOf(folder, standing, warn);
  const known = new Set(workers.map(({ standing }) => standing.record?.run));
  return [
    ...workers.map(({ folder, standing }) => glanceAtWorker(home, folder, standing)),
    ...livingLoops(home).flatMap((loop) =>
      known.has(loop.run) || loop.run === "" ? [] : glanceAtRun(home, loop),
    ),
  ];
}

export function warnOf({ name }: WorkerFolder, { damage }: Standing, warn: (text: string) => void): void {
  if (damage !== undefined) warn(`the state file of worker '${name}' ${damage}`);
}

export function glanceAtWorker(home: string, folder: WorkerFolder, standing: Standing): Glance {
  const { state, record } = standing;
  const run = record === undefined ? undefined : runState(home, record.run);
  const status = statusNow(standing, run);
  const hasEnded = !AT_WORK.has(status);
  return {
    kind: "worker",
    name: folder.name,
    run: record?.run ?? null,
    recipe: record?.recipe ?? "",
    status,
    reason: hasEnded ? (run?.reason ?? record?.ended?.reason ?? null) : null,
    iteration: state?.current_iteration ?? run?.iterations ?? 0,
    maxIterations: state?.max_iterations ?? 0,
    startedAt: record?.createdAt ?? null,
    activeMs: activeMs(run, status === "running"),
    costUsd: run?.costUsd ?? null,
    lastLine: waitOf(status, run) ?? lastLine(folder.output, hasEnded ? "[ralph] " : ""),
    workspace: record?.workspace ?? "",
    tags: record?.tags ?? [],
  };
}

function glanceAtRun(home: string, { run: id, workspace }: LockHolder): Glance[] {
  const folder = runFolder(home, id);
  const state = runState(home, id);
  if (state === undefined) return [];
  const isPaused = state.status === "paused" || existsSync(folder.pause);
  const status = isPaused ? "paused" : state.status === "waiting" ? "waiting" : "running";
  return [
    {
      kind: "run",
      name: id,
      run: id,
      recipe: state.recipe,
      status,
      reason: null,
      iteration: state.iterations + 1,
      maxIterations: state.limits?.maxIterations ?? 0,
      startedAt: state.startedAt || null,
      activeMs: activeMs(state, !isPaused),
      costUsd: state.costUsd,
      lastLine: waitOf(status, state) ?? state.message ?? "",
      workspace,
      tags: [],
    },
  ];
}

const AT_WORK = new Set<GlanceStatus>(["running", "paused", "waiting"]);

/** The state file of a worker knows of no limits. */
function statusNow({ status }: Standing, run: RunState | undefined): GlanceStatus {
  return status === "running" && run?.status === "waiting" ? "waiting" : status;
}

function waitOf(status: GlanceStatus, run: RunState | undefined): string | undefined {
  if (status !== "waiting") return undefined;
  const [first] = Object.values(run?.limited ?? {})
    .map(({ until }) => until)
    .sort();
  const when = first === undefined ? "" : ` until ${first.slice(0, 16).replace("T", " ")} UTC`;
  return `waiting for a usage limit to end${when}`;
}

/** A journal that cannot be read takes nothing away from what else is known. */
function runState(home: string, run: string): RunState | undefined {
  try {
    return runFolder(home, run).state();
  } catch {
    return undefined;
  }
}

function activeMs(run: RunState | undefined, isRunning: boolean): number {
  return run === undefined ? 0 : activeMsUntil(Date.now(), run, isRunning);
}

const TAIL_BYTES = 4096;

/** The last one with that beginning: of a loop that has ended, what it said of itself. */
function lastLine(path: string, beginning: string): string {
  if (!existsSync(path)) return "";
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    const lines = stripVTControlCharacters(buffer.toString("utf8")).split("\n");
    return lines.findLast((line) => line.trim() !== "" && line.startsWith(beginning))?.trim() ?? "";
  } finally {
    closeSync(file);
  }
}
