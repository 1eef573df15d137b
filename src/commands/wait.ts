import { setTimeout as sleep } from "node:timers/promises";
import { readRecord } from "../workers/record.js";
import { standingOf } from "../workers/status.js";
import { warn, workerNamed } from "./find-worker.js";
import { duration } from "./flags.js";

const POLL_MS = 100;
/** As `timeout` of the system has it. */
const TIMED_OUT = 124;

/** `ralph wait NAME`: returns when its loop has ended, with the loop's exit code. */
export async function wait(name: string, flags: { timeout?: string }): Promise<number> {
  const { home, folder } = workerNamed(name);
  const limit =
    flags.timeout === undefined ? Number.POSITIVE_INFINITY : duration("--timeout", flags.timeout, 0);
  const until = performance.now() + limit;
  for (;;) {
    const { status, loop } = standingOf(folder, home);
    if (status === "crashed" || status === "unknown") return gone(name, status);
    // Paused, and nobody waits in its window: it will not end by itself, but somebody may resume it.
    if (loop === undefined && status !== "paused") return readRecord(folder)?.ended?.exitCode ?? 1;
    if (performance.now() >= until) return tooLong(name, flags.timeout ?? "");
    await sleep(Math.min(POLL_MS, Math.max(0, until - performance.now())));
  }
}

function gone(name: string, status: string): number {
  warn(`worker '${name}' is ${status}`);
  return 1;
}

function tooLong(name: string, timeout: string): number {
  warn(`worker '${name}' has not ended within ${timeout}${/\d$/.test(timeout) ? " s" : ""}`);
  return TIMED_OUT;
}
