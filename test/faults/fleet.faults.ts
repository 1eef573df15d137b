import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { ENGINES, type FleetProject, fleetProject, type TestEngine, untilEnded } from "../fleet/kit.js";
import { isAlive, type Started, temporaryFolder } from "../kit.js";
import {
  type Disk,
  mayBreakMachines,
  type Network,
  openClock,
  openDisk,
  openNetwork,
  serveGit,
} from "./machines.js";

/** Random schedules of what happens to a fleet; SEED and SCHEDULES choose which and how many, ENGINE where. */
const SEED = Number(process.env["SEED"] ?? 1);
const SCHEDULES = Number(process.env["SCHEDULES"] ?? 50);
const CHOSEN = Object.entries(ENGINES).filter(([name]) => (process.env["ENGINE"] ?? name) === name);
const LEASE_MS = 2000;
const NEEDED = 4;
const CALL_USD = 0.25;

/** Takes half a second and a quarter of a dollar, and counts. */
const CLAUDE = `#!/bin/bash
case "$*" in *--help*) exit 0 ;; esac
cat > /dev/null
n=$(( $(cat n 2>/dev/null || echo 0) + 1 ))
echo "$$ $RALPH_CLAIM $n" >> "$AGENT_LOG/calls"
sleep 0.5
echo $n > n
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"COMPLETE","total_cost_usd":${CALL_USD},"usage":{"input_tokens":1,"output_tokens":1}}'
`;

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

/** A machine of the fleet: a worker with a clock of its own, and with a disk and a network where that is possible. */
interface Machine {
  worker: Started;
  start(): Started;
  clock: ReturnType<typeof openClock>;
  disk: Disk | undefined;
  network: Network | undefined;
}

interface Faults {
  machine: Machine;
  engine: TestEngine;
  random(): number;
}

const FAULTS: Record<string, (faults: Faults) => Promise<unknown>> = {
  async "kill a worker"({ machine }) {
    machine.worker.child.kill("SIGKILL");
    await machine.worker.result;
  },
  async "freeze a worker past its lease"({ machine: { worker } }) {
    worker.child.kill("SIGSTOP");
    await wait(2.5 * LEASE_MS);
    worker.child.kill("SIGCONT");
  },
  async "kill the engine"({ engine }) {
    await engine.kill();
    await wait(LEASE_MS / 2);
    await engine.start();
  },
  async "cut the network"({ machine: { network }, random }) {
    network?.cut();
    await wait(4 * LEASE_MS * random());
    network?.mend();
  },
  async "move the clock"({ machine: { clock }, random }) {
    clock.set(Math.round((random() - 0.5) * 7200));
    await wait(2 * LEASE_MS);
    clock.set(0);
  },
  async "fill the disk"({ machine: { disk } }) {
    disk?.fill();
    await wait(2 * LEASE_MS);
    disk?.empty();
  },
};

/** Two machines and a project; its remote is reached over http in every second schedule. */
async function openFleet(start: (typeof ENGINES)["redis"], seed: number) {
  const networks = mayBreakMachines ? [openNetwork(), openNetwork()] : [];
  const engine = await start(
    temporaryFolder(),
    networks.map(({ address }) => address),
  );
  const p = fleetProject(engine.url, { lease: LEASE_MS / 1000 });
  p.program("claude", CLAUDE);
  p.settings({ agent: { command: "claude" }, sandbox: { kind: "none" } });
  p.sh(`git commit -qam agent && git push -q origin main`);
  p.sh(`git -C "${p.remote}" config core.logAllRefUpdates always`);
  const address = networks[0]?.address ?? "127.0.0.1";
  if (seed % 2 === 1) p.sh(`git remote set-url origin ${await serveGit(p.remote, address)}`);
  const machines = [0, 1].map((at): Machine => {
    const path = join(p.root, `machine-${at}`);
    mkdirSync(path);
    const network = networks[at];
    const clock = openClock(join(p.log, `clock-${at}`));
    const disk = mayBreakMachines ? openDisk(path) : undefined;
    const url = engine.url.replace("127.0.0.1", network?.address ?? "127.0.0.1");
    const env = { ...clock.env, RALPH_FLEET: url, RALPH_HOME: join(path, "home"), TMPDIR: path };
    const start = (): Started => p.worker([], env, network?.through);
    return { worker: start(), start, clock, disk, network };
  });
  return { p, engine, machines };
}

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

/** Every iteration of each lane is counted once, and what the calls have cost is what the run has cost. */
function checkJournal(events: LoopEvent[], costUsd: unknown): void {
  for (const lane of new Set(events.map((event) => event.lane))) {
    const own = events.filter((event) => event.lane === lane);
    const finished = own.flatMap((event) => (event.type === "iteration.finished" ? event.iteration : []));
    expect(finished).toEqual(finished.map((_, at) => at + 1));
  }
  // A call that was cut off after its result has cost as much.
  const costs = events.flatMap((event) =>
    event.type === "agent.event" && event.event.type === "result" ? (event.event.costUsd ?? 0) : [],
  );
  expect(costUsd).toBeCloseTo(costs.reduce((sum, one) => sum + one, 0));
}

describe.each(CHOSEN)("a fleet on %s", (_, start) => {
  it.each(Array.from({ length: SCHEDULES }, (_, at) => SEED + at))(
    "comes through schedule %i",
    async (seed) => {
      const random = randomFrom(seed);
      const { p, engine, machines } = await openFleet(start, seed);
      const happened: string[] = [];
      try {
        const check = `test "$(cat n)" -ge ${NEEDED}`;
        const more = ["--name", "faults", "-n", "60", "--stuck-after", "0"];
        const lanes = seed % 3 === 2;
        const loop = lanes ? ["race", "count", "--attempts", "2"] : ["loop", "count"];
        const id = await p.submit(...loop, "--check", check, ...more);
        for (let count = 1 + Math.floor(random() * 3); count > 0; count -= 1) {
          await wait(1000 + random() * 3000);
          const names = Object.keys(FAULTS);
          const fault = names[Math.floor(random() * names.length)] as string;
          const at = Math.floor(random() * machines.length);
          const machine = machines[at] as Machine;
          happened.push(`${fault} (${at})`);
          await FAULTS[fault]?.({ machine, engine, random });
          if (machine.worker.child.signalCode !== null || machine.worker.child.exitCode !== null)
            machine.worker = machine.start();
        }
        const end = await untilEnded(p, id);
        expect(end, JSON.stringify([happened, end])).toMatchObject({ success: true });
        checkBranch(p, "refs/heads/ralph/faults");
        if (lanes) checkBranch(p, "refs/heads/ralph/faults-lanes");
        const text = (await p.fleet("logs", id, "--json")).stdout.split("\n").filter(Boolean);
        checkJournal(
          text.map((line) => JSON.parse(line) as LoopEvent),
          end["costUsd"],
        );
        await wait(2 * LEASE_MS);
        const agents = readFileSync(join(p.log, "calls"), "utf8").trim().split("\n");
        expect(agents.filter((line) => isAlive(Number(line.split(" ")[0])))).toEqual([]);
      } finally {
        await engine.kill();
      }
    },
  );
});
