import { setTimeout as delay } from "node:timers/promises";
import { loop } from "../../dist/loop/loop.js";
import { initialState } from "../../dist/records/run-state.js";

const LIMITS = {
  maxIterations: 10,
  maxCostUsd: null,
  maxTokens: null,
  maxTimeMs: null,
  iterationTimeoutMs: null,
  inactivityTimeoutMs: 0,
  maxFailures: 5,
  stuckAfter: 0,
};

/** Megabytes that one loop takes while it waits, measured on many of them. */
export async function idleLoops(count) {
  const stops = Array.from({ length: count }, () => new AbortController());
  const settle = () => new Promise((resolve) => setTimeout(resolve, 300));
  await settle();
  const before = process.memoryUsage();
  const loops = stops.map(({ signal }, number) => follow(pausedLoop(`run-${number}`, signal)));
  await settle();
  const after = process.memoryUsage();
  for (const stop of stops) stop.abort();
  await Promise.all(loops);
  return Math.max(after.rss - before.rss, after.heapUsed - before.heapUsed, 0) / count / 1e6;
}

async function follow(events) {
  for await (const _ of events);
}

function pausedLoop(run, stop) {
  const recipe = { name: "idle", verifies: false, plan: async () => ({ prompt: "" }), async *verify() {} };
  const effects = {
    clock: { now: () => new Date(), elapsed: () => performance.now(), sleep },
    signals: { stop, kill: stop },
    isPaused: () => true,
    changedFiles: async () => null,
    async *settle() {
      return { worktree: null };
    },
    fingerprint: async () => "",
    async *runAgent() {},
  };
  return loop(
    recipe,
    effects,
    { limits: LIMITS, agent: "none", credentials: null, workspace: "/" },
    initialState(run),
  );
}

function sleep(ms, signal) {
  return delay(ms, undefined, { signal }).catch(() => {});
}
