import { existsSync, readFileSync, renameSync, statSync } from "node:fs";
import { writeAtomic } from "../records/files.js";
import { inTurn } from "../records/lock.js";
import { has } from "../records/shape.js";
import type { WorkerFolder } from "./folder.js";

/** `state.json`: the loop, people and scripts read it, and more than one of them write it. */
export interface WorkerState {
  worker_name: string;
  prompt_file: string | null;
  max_iterations: number;
  current_iteration: number;
  status: WorkerStatus;
  /** Local time, to the microsecond, as `2024-01-15T10:30:00.000000`. */
  started: string;
  last_iteration_started: string | null;
  consecutive_failures: number;
  total_failures: number;
  done_pattern: string | null;
  /** Seconds. */
  inactivity_timeout: number;
}

export type WorkerStatus = "running" | "paused" | "stopped" | "failed";

/**
 * What stands in the file, or where it was put because nobody can read it. `invalidLimit`: somebody wrote a
 * `max_iterations` that is no number of iterations; `state` has 0 in its place.
 */
export type StateReading =
  | { state: WorkerState; invalidLimit?: { written: unknown } }
  | { setAside: string | undefined };

/** A file that cannot be understood is moved away, so that what was in it is neither lost nor believed. */
export function readState(folder: WorkerFolder): StateReading {
  const reading = parse(folder);
  if (reading !== undefined) return reading;
  if (!existsSync(folder.path)) return { setAside: undefined };
  // An editor may be in the middle of writing it.
  return inTurn(folder.turn, () => readPatiently(folder));
}

/**
 * Changes the file in one go: nobody writes in between. `otherwise` is what the loop itself knows, for a file
 * that is gone or cannot be understood.
 */
export function updateState(
  folder: WorkerFolder,
  change: (state: WorkerState) => Partial<WorkerState>,
  otherwise?: WorkerState,
  damaged: (what: string) => void = () => {},
): WorkerState | undefined {
  return inTurn(folder.turn, () => {
    const reading = readPatiently(folder);
    const before = "state" in reading ? reading.state : otherwise;
    if (before === undefined) return undefined;
    const after = { ...before, ...change(before) };
    const what = damageOf(reading);
    if (what !== undefined && otherwise !== undefined)
      damaged(`state.json ${what}; max_iterations stays ${otherwise.max_iterations}`);
    if (after.max_iterations === 0 && otherwise !== undefined)
      after.max_iterations = otherwise.max_iterations;
    // Only the loop knows which number stays: it finds what was written, and says so.
    const written =
      "state" in reading && after.max_iterations === 0 ? reading.invalidLimit?.written : undefined;
    writeState(folder, { ...after, ...(written !== undefined && { max_iterations: written }) });
    return after;
  });
}

/** What is wrong with the file, as words after its name. */
export function damageOf(reading: StateReading): string | undefined {
  if (!("state" in reading))
    return reading.setAside && `could not be read; it was kept as ${reading.setAside}`;
  if (reading.invalidLimit === undefined) return undefined;
  const written = JSON.stringify(reading.invalidLimit.written) ?? "(none)";
  return `has max_iterations ${written}, which is no whole number of at least 1`;
}

export function writeState(folder: WorkerFolder, state: { [key in keyof WorkerState]: unknown }): void {
  writeAtomic(folder.state, `${JSON.stringify(state, null, 2)}\n`);
}

const PATIENCE_MS = 150;
const LOOK_MS = 15;

function readPatiently(folder: WorkerFolder): StateReading {
  for (let waited = 0; existsSync(folder.state); waited += LOOK_MS) {
    const reading = parse(folder);
    if (reading !== undefined) return reading;
    if (waited >= PATIENCE_MS) return setAside(folder);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  }
  return { setAside: undefined };
}

function setAside(folder: WorkerFolder): StateReading {
  const path = `${folder.state}.damaged-${Date.now()}`;
  renameSync(folder.state, path);
  return { setAside: path };
}

function parse(folder: WorkerFolder): StateReading | undefined {
  try {
    // A pipe would be waited for.
    if (!statSync(folder.state).isFile()) return undefined;
    const value: unknown = JSON.parse(readFileSync(folder.state, "utf8"));
    if (isState(value)) return { state: value };
    if (!has(value, {})) return undefined;
    const rest: unknown = { ...value, max_iterations: 1 };
    if (!isState(rest)) return undefined;
    return {
      state: { ...rest, max_iterations: 0 },
      invalidLimit: { written: value["max_iterations"] },
    };
  } catch {
    return undefined;
  }
}

const STATUSES: readonly unknown[] = ["running", "paused", "stopped", "failed"] satisfies WorkerStatus[];

function isState(value: unknown): value is WorkerState {
  if (!has(value, { worker_name: "string", status: "string", started: "string" })) return false;
  const counts = ["max_iterations", "current_iteration", "consecutive_failures", "total_failures"];
  return (
    STATUSES.includes(value["status"]) &&
    counts.every((key) => Number.isSafeInteger(value[key]) && Number(value[key]) >= 0) &&
    Number(value["max_iterations"]) > 0 &&
    has(value, {
      inactivity_timeout: "number",
      prompt_file: "string?",
      last_iteration_started: "string?",
      done_pattern: "string?",
    })
  );
}
