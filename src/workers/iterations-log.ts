import { appendFileSync } from "node:fs";
import type { WorkerFolder } from "./folder.js";
import { localTime } from "./local-time.js";

export type Mark =
  | "START"
  | "END"
  | "FAIL"
  | "TIMEOUT"
  | "PAUSE"
  | "WAIT"
  | "RESUME"
  | "DONE"
  | "COMPLETE"
  | "STOP"
  | "WARN"
  | "ERROR";

/** One line, written in one go: several may write. */
export function logIteration(folder: WorkerFolder, at: Date, mark: Mark, text: string): void {
  appendFileSync(folder.iterations, `${localTime(at)} [${mark}] ${text}\n`, { mode: 0o600 });
}
