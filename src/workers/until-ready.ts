import { setTimeout as sleep } from "node:timers/promises";
import { readiness } from "./ready.js";

const LOOK_MS = 250;
const LIMIT_MS = 30_000;

/** Waits until a program can be typed to. Returns why it cannot, if so. */
export async function untilReady(
  screen: () => Promise<string | undefined>,
  stop: AbortSignal,
): Promise<string | undefined> {
  const until = performance.now() + LIMIT_MS;
  while (performance.now() < until) {
    if (stop.aborted) return "it was ended before it was ready";
    const seen = await screen();
    if (seen === undefined) return "it ended before it was ready";
    const found = readiness(seen);
    if (found.state === "ready") return undefined;
    if (found.state === "blocked") return found.why;
    await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  }
  return `it was not ready to be typed to within ${LIMIT_MS / 1000} s`;
}
