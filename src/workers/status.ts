import { ralphHome } from "../records/home.js";
import type { LockHolder } from "../records/lock.js";
import { runFolder } from "../records/runs.js";
import type { WorkerFolder } from "./folder.js";
import type { GlanceStatus } from "./glance.js";
import { readRecord, type WorkerRecord } from "./record.js";
import { damageOf, readState, type WorkerState } from "./state-file.js";

/** Everything that the files of a worker tell, as far as they can be read. */
export interface Standing {
  status: GlanceStatus;
  state: WorkerState | undefined;
  record: WorkerRecord | undefined;
  /** The process of its loop, if it lives: a pid in a file is not believed. */
  loop: LockHolder | undefined;
  /** What is wrong with its state file. */
  damage: string | undefined;
}

export function standingOf(folder: WorkerFolder, home = ralphHome()): Standing {
  const record = readRecord(folder);
  const reading = readState(folder);
  const loop = record && runFolder(home, record.run).loop(record.workspace);
  const damage = damageOf(reading);
  if (!("state" in reading) || record === undefined)
    return { status: "unknown", state: undefined, record, loop, damage };
  const { state } = reading;
  const isGone = state.status === "running" && loop === undefined;
  return { status: isGone ? "crashed" : state.status, state, record, loop, damage };
}
