import { existsSync, readFileSync, renameSync, statSync } from "node:fs";
import { writeAtomic } from "../records/files.js";
import { inTurn } from "../records/lock.js";
import { has } from "../records/shape.js";
import type { WorkerFiles } from "./files.js";

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

const KINDS = {
  worker_name: "string",
  prompt_file: "string?",
  status: "string",
  started: "string",
  last_iteration_started: "string?",
  done_pattern: "string?",
  inactivity_timeout: "number",
} as const;
const COUNTS = ["current_iteration", "consecutive_failures", "total_failures"];
const STATUSES = ["running", "paused", "stopped", "failed"] as const;
type WorkerStatus = (typeof STATUSES)[number];

export interface StateReading {
  /** undefined: the file cannot be read. `max_iterations` is 0 where the file has no usable number. */
  state?: WorkerState;
  /** What is wrong with the file, as words after its name. */
  damage?: string;
  /** The `max_iterations` that could not be used. */
  written?: unknown;
}

/** A file that makes no sense is moved away, so that its content is neither lost nor believed. */
export function readState(files: WorkerFiles): StateReading {
  const reading = parse(files);
  if (reading !== undefined || !existsSync(files.path)) return reading ?? {};
  return inTurn(files.turnLock, () => readPatiently(files));
}

/**
 * Changes the file while no other process writes it. `own` is what the loop itself knows, for a file that is gone
 * or makes no sense.
 */
export function updateState(
  files: WorkerFiles,
  change: (state: WorkerState) => Partial<WorkerState>,
  own?: WorkerState,
  damaged: (what: string) => void = () => {},
): WorkerState | undefined {
  return inTurn(files.turnLock, () => {
    const { state = own, damage, written } = readPatiently(files);
    if (state === undefined) return undefined;
    const after = { ...state, ...change(state) };
    if (own !== undefined && damage !== undefined)
      damaged(`state.json ${damage}; max_iterations stays ${own.max_iterations}`);
    after.max_iterations ||= own?.max_iterations ?? 0;
    // Only the loop knows which number stays: it has to find what was written, and to say so.
    writeState(files, after.max_iterations === 0 ? { ...after, max_iterations: written } : after);
    return after;
  });
}

export function writeState(files: WorkerFiles, state: { [key in keyof WorkerState]: unknown }): void {
  writeAtomic(files.stateFile, `${JSON.stringify(state, null, 2)}\n`);
}

const PATIENCE_MS = 150;
const POLL_MS = 15;

/** An editor may be in the middle of writing it. */
function readPatiently(files: WorkerFiles): StateReading {
  for (let waited = 0; existsSync(files.stateFile); waited += POLL_MS) {
    const reading = parse(files);
    if (reading !== undefined) return reading;
    if (waited >= PATIENCE_MS) {
      const path = `${files.stateFile}.damaged-${Date.now()}`;
      renameSync(files.stateFile, path);
      return { damage: `could not be read; it was kept as ${path}` };
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  return {};
}

function parse({ stateFile }: WorkerFiles): StateReading | undefined {
  try {
    // A pipe would be waited for.
    if (!statSync(stateFile).isFile()) return undefined;
    const value: unknown = JSON.parse(readFileSync(stateFile, "utf8"));
    const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && Number(count) >= 0;
    if (!has(value, KINDS) || !STATUSES.some((status) => status === value["status"])) return undefined;
    if (!COUNTS.every((name) => isCount(value[name]))) return undefined;
    const { max_iterations: written } = value;
    const state = value as unknown as WorkerState;
    if (isCount(written) && written !== 0) return { state };
    const damage = `has max_iterations ${JSON.stringify(written) ?? "(none)"}, which is no whole number of at least 1`;
    return { state: { ...state, max_iterations: 0 }, damage, written };
  } catch {
    return undefined;
  }
}
