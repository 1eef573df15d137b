import { setTimeout as sleep } from "node:timers/promises";
import { duration } from "../settings/limits.js";
import { warnOf } from "../workers/look.js";
import { type Standing, standingOf } from "../workers/status.js";
import { loopNamed, warn, workerNamed } from "./find-worker.js";

const POLL_MS = 100;
/** As `timeout` of the system has it. */
const TIMED_OUT = 124;

/** `ralph wait NAME`: returns when its loop has ended, with the loop's exit code. */
export async function wait(name: string, flags: { timeout?: string }): Promise<number> {
  const { home, folder, standing: first } = workerNamed(name);
  let known = first.damage;
  const limit =
    flags.timeout === undefined ? Number.POSITIVE_INFINITY : duration("--timeout", flags.timeout, 0);
  const until = performance.now() + limit;
  for (;;) {
    const standing = standingOf(folder, home);
    if (standing.damage !== known) warnOf(folder, standing, warn);
    known = standing.damage;
    const { status, record } = standing;
    const loop = standing.loop ?? (record === undefined ? loopNamed(home, name) : undefined);
    // Paused, and nobody waits in its window: it will not end by itself, but somebody may resume it.
    if (loop === undefined && status !== "paused") return ended(name, standing);
    if (performance.now() >= until) return tooLong(name, flags.timeout ?? "");
    await sleep(Math.min(POLL_MS, Math.max(0, until - performance.now())));
  }
}

/** Its record says how it ended, also where its state file cannot be read. */
function ended(name: string, { status, record }: Standing): number {
  if (status !== "crashed" && record?.ended !== undefined) return record.ended.exitCode;
  if (status === "crashed" || status === "unknown") warn(`worker '${name}' is ${status}`);
  return 1;
}

function tooLong(name: string, timeout: string): number {
  warn(`worker '${name}' has not ended within ${timeout}${/\d$/.test(timeout) ? " s" : ""}`);
  return TIMED_OUT;
}
