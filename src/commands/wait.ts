import { setTimeout as sleep } from "node:timers/promises";
import { duration } from "../settings/limits.js";
import { readWorker, type Worker, warnOfDamage } from "../workers/worker.js";
import { loopNamed, warn, workerNamed } from "./find.js";

const POLL_MS = 100;
/** As `timeout` of the system has it. */
const TIMED_OUT = 124;

/** `ralph wait NAME`: returns when its loop has ended, with the loop's exit code. */
export async function wait(name: string, flags: { timeout?: string }): Promise<number> {
  let { home, damage: known } = workerNamed(name);
  const limit =
    flags.timeout === undefined ? Number.POSITIVE_INFINITY : duration("--timeout", flags.timeout, 0);
  const until = performance.now() + limit;
  for (;;) {
    const worker = readWorker(home, name);
    if (worker.damage !== known) warnOfDamage(worker, warn);
    known = worker.damage;
    const loop = worker.loop ?? (worker.record === undefined ? loopNamed(home, name) : undefined);
    // A paused loop without a process does not end by itself, but it may be resumed.
    if (loop === undefined && worker.status !== "paused") return exitCodeOf(worker);
    if (performance.now() >= until) return tooLong(name, flags.timeout ?? "");
    await sleep(Math.min(POLL_MS, Math.max(0, until - performance.now())));
  }
}

/** Its record says how it ended, also where its state file cannot be read. */
function exitCodeOf({ name, status, record }: Worker): number {
  if (status !== "crashed" && record?.ended !== undefined) return record.ended.exitCode;
  if (status === "crashed" || status === "unknown") warn(`worker '${name}' is ${status}`);
  return 1;
}

function tooLong(name: string, timeout: string): number {
  warn(`worker '${name}' has not ended within ${timeout}${/\d$/.test(timeout) ? " s" : ""}`);
  return TIMED_OUT;
}
