import { existsSync, renameSync } from "node:fs";
import { z } from "zod";
import { readJson, writeAtomic } from "../records/files.js";
import { inTurn } from "../records/lock.js";
import type { WorkerFiles } from "./files.js";

const count = z.int().nonnegative();

/** `state.json`: the loop, people and scripts read and write it. */
const State = z.looseObject({
  worker_name: z.string(),
  prompt_file: z.string().nullable(),
  /** 0: the file has no valid number. */
  max_iterations: count.catch(0),
  current_iteration: count,
  status: z.enum(["running", "paused", "stopped", "failed"]),
  /** Local time, to the microsecond, as `2024-01-15T10:30:00.000000`. */
  started: z.string(),
  last_iteration_started: z.string().nullable(),
  consecutive_failures: count,
  total_failures: count,
  done_pattern: z.string().nullable(),
  /** Seconds. */
  inactivity_timeout: z.number(),
});
export type WorkerState = z.infer<typeof State>;

export interface StateReading {
  /** undefined: the file cannot be read. */
  state?: WorkerState;
  /** What is wrong with the file, as words after its name. */
  damage?: string;
}

/** Moves an invalid file away, so that ralph neither loses nor trusts its content. */
export function readState(files: WorkerFiles): StateReading {
  const reading = parse(files);
  if (reading !== undefined || !existsSync(files.path)) return reading ?? {};
  return inTurn(files.turnLock, () => readPatiently(files));
}

/** Changes the file in turn. `own`: what the loop knows, in case the file is missing or invalid. */
export function updateState(
  files: WorkerFiles,
  change: (state: WorkerState) => Partial<WorkerState>,
  own?: WorkerState,
  damaged: (what: string) => void = () => {},
): WorkerState | undefined {
  return inTurn(files.turnLock, () => {
    const { state = own, damage } = readPatiently(files);
    if (state === undefined) return undefined;
    if (own !== undefined && damage !== undefined)
      damaged(`state.json ${damage}; max_iterations stays ${own.max_iterations}`);
    const after = { ...state, ...change(state) };
    after.max_iterations ||= own?.max_iterations ?? 0;
    writeState(files, after);
    return after;
  });
}

export function writeState(files: WorkerFiles, state: WorkerState): void {
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
      return { damage: `was unreadable; ralph kept it as ${path}` };
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  return {};
}

function parse({ stateFile }: WorkerFiles): StateReading | undefined {
  const written = readJson(stateFile) as { max_iterations?: unknown } | undefined;
  const { data: state } = State.safeParse(written);
  if (state === undefined || state.max_iterations > 0) return state && { state };
  const number = JSON.stringify(written?.max_iterations) ?? "(none)";
  return { state, damage: `has max_iterations ${number}, which is not a whole number of at least 1` };
}
