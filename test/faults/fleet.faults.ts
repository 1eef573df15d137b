import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { ENGINES, type FleetProject, fleetProject, type TestEngine, untilEnded } from "../fleet/kit.js";
import { isAlive, type Started, temporaryFolder } from "../kit.js";

/** Random schedules of what happens to a fleet; SEED and SCHEDULES choose which and how many. */
const SEED = Number(process.env["SEED"] ?? 1);
const SCHEDULES = Number(process.env["SCHEDULES"] ?? 50);
const LEASE_MS = 2000;
const NEEDED = 4;

/** mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const FAULTS: Record<string, (worker: Started, engine: TestEngine) => Promise<void>> = {
  async "kill a worker"(worker) {
    worker.child.kill("SIGKILL");
  },
  async "freeze a worker past its lease"(worker) {
    worker.child.kill("SIGSTOP");
    await wait(2.5 * LEASE_MS);
    worker.child.kill("SIGCONT");
  },
  async "kill the engine"(_, engine) {
    await engine.kill();
    await wait(LEASE_MS / 2);
    await engine.start();
  },
};

/** Every tip that the branch has ever had is part of its end, and each takeover follows the one before. */
function checkBranch(p: FleetProject, branch: string): void {
  const tips = p.sh(`git -C "${p.remote}" reflog show --format=%H "${branch}"`).split("\n").filter(Boolean);
  for (const tip of tips) p.sh(`git -C "${p.remote}" merge-base --is-ancestor ${tip} "${branch}"`);
  const epochs = p.sh(
    `git -C "${p.remote}" log --format='%(trailers:key=Ralph-Epoch,valueonly)' "${branch}"`,
  );
  const seen = epochs.split("\n").filter(Boolean).map(Number);
  expect(seen).toEqual(seen.toSorted((a, b) => b - a));
}

describe.each(Object.entries(ENGINES))("a fleet on %s", (_, start) => {
  it.each(Array.from({ length: SCHEDULES }, (_, at) => SEED + at))(
    "comes through schedule %i",
    async (seed) => {
      const random = randomFrom(seed);
      const engine = await start(temporaryFolder());
      try {
        const p = fleetProject(engine.url, { lease: LEASE_MS / 1000 });
        p.sh(`git -C "${p.remote}" config core.logAllRefUpdates always`);
        const workers = [p.worker([], { AGENT_SECONDS: "0.5" }), p.worker([], { AGENT_SECONDS: "0.5" })];
        const check = `test "$(cat n)" -ge ${NEEDED}`;
        const id = await p.submit(
          "loop",
          "count",
          "--check",
          check,
          "--name",
          "faults",
          "-n",
          "60",
          "--stuck-after",
          "0",
        );
        for (let count = 1 + Math.floor(random() * 3); count > 0; count -= 1) {
          await wait(1000 + random() * 3000);
          const names = Object.keys(FAULTS);
          const fault = names[Math.floor(random() * names.length)] as string;
          const at = Math.floor(random() * workers.length);
          await FAULTS[fault]?.(workers[at] as Started, engine);
          if (workers[at]?.child.signalCode !== null) workers[at] = p.worker([], { AGENT_SECONDS: "0.5" });
        }
        expect([seed, await untilEnded(p, id)]).toEqual([seed, expect.objectContaining({ success: true })]);
        checkBranch(p, "refs/heads/ralph/faults");
        const text = (await p.fleet("logs", id, "--json")).stdout.split("\n").filter(Boolean);
        const events = text.map((line) => JSON.parse(line) as LoopEvent);
        const finished = events.flatMap((event) =>
          event.type === "iteration.finished" ? event.iteration : [],
        );
        expect(finished).toEqual(finished.map((_, index) => index + 1));
        await wait(2 * LEASE_MS);
        const agents = readFileSync(join(p.log, "calls"), "utf8").trim().split("\n");
        expect(agents.filter((line) => isAlive(Number(line.split(" ")[0])))).toEqual([]);
      } finally {
        await engine.kill();
      }
    },
  );
});
