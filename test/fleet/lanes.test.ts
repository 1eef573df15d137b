import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { eventually } from "../kit.js";
import { lanesProject } from "../lanes/kit.js";
import {
  ENGINES,
  engineOfSuite,
  eventsOf,
  type FleetProject,
  fleetProject,
  SHORT_LEASE,
  untilEnded,
} from "./kit.js";

/** A file as a branch of the remote has it; empty where it has none. */
const pushed = (p: FleetProject, branch: string, file: string): string =>
  p.sh(`git -C "${p.remote}" show "refs/heads/${branch}:${file}" 2>/dev/null || true`);
const tips = (p: FleetProject): string => p.sh(`git -C "${p.remote}" for-each-ref refs/heads/ralph`);
const lanesOf = (events: LoopEvent[], type: string): (string | undefined)[] =>
  events.filter((event) => event.type === type).map(({ lane }) => lane);

/** Says what it is given to say once it may. */
const RACER = `#!/bin/bash
case "$*" in *--version*|*--help*) exit 0 ;; esac
cat > /dev/null
name=$(basename "$0")
echo "$name" >> "$AGENT_LOG/racers"
echo "$name $(($(wc -l < work 2>/dev/null || echo 0) + 1))" >> work
git add work && git commit -qm "$name works"
[ "$name" = slow ] || until [ -f "$AGENT_LOG/go" ]; do sleep 0.05; done
[ "$name" = slow ] && sleep 600
echo "$name was here" > winner
git add winner && git commit -qm "$name is done"
echo COMPLETE
`;

describe("lanes of a fleet", { timeout: 300_000 }, () => {
  const engine = engineOfSuite("lanes", ENGINES.postgres);

  it("lands stories on the job's branch, and goes on elsewhere with what landed and what lanes have done", async () => {
    const go = join(tmpdir(), `go-${process.pid}`);
    rmSync(go, { force: true });
    const wait = `until [ -f ${go} ]; do sleep 0.05; done`;
    const work = {
      "US-001": "echo one > one.txt",
      "US-002": `echo begun > two.txt; git add -A; git commit -qm begun; ${wait}; echo two >> two.txt`,
      "US-003": "cat one.txt > three.txt",
    };
    const third = { id: "US-003", dependsOn: ["US-001", "US-002"] };
    const p = fleetProject(engine().url, {
      lease: SHORT_LEASE,
      project: lanesProject(["US-001", "US-002", third], { work }),
    });
    const first = p.worker(["--name", "first"]);
    const run = ["stories", "run", "--parallel", "2", "--no-sandbox", "-n", "40", "--name", "shop"];
    const id = await p.submit(...run);
    await eventually(() => pushed(p, "ralph/shop", "one.txt") === "one\n");
    // Its event follows the push.
    while (!lanesOf(await eventsOf(p, id), "landing.landed").includes("US-001"))
      await new Promise((resolve) => setTimeout(resolve, 200));
    // The lane of the second story was pushed with its commit, and its agent is at work.
    await eventually(() => p.sh(`git -C "${p.remote}" log --format=%s ralph/shop-lanes`).includes("begun"));
    first.child.kill("SIGSTOP");
    p.worker(["--name", "second"]);
    const taken = `git -C "${p.remote}" log --format=%s ralph/shop-lanes`;
    await eventually(() => p.sh(taken).includes(`Take over ralph run ${id}`));
    writeFileSync(go, "");
    expect(await untilEnded(p, id)).toMatchObject({
      ...{ reason: "completed", success: true, unpushed: null, failure: null },
      worker: expect.stringMatching(/^second/),
    });
    const files = ["one.txt", "two.txt", "three.txt"].map((file) => pushed(p, "ralph/shop", file));
    expect(files).toEqual(["one\n", "begun\ntwo\n", "one\n"]);
    const events = await eventsOf(p, id);
    expect(lanesOf(events, "landing.landed")).toEqual(["US-001", "US-002", "US-003"]);
    expect(events.filter(({ type }) => type === "lease.lost")).toHaveLength(1);
    const before = tips(p);
    first.child.kill("SIGCONT");
    await first.until((output) => output.includes("the lease is lost"));
    first.child.kill("SIGTERM");
    await first.result;
    expect(tips(p)).toBe(before);
    rmSync(go);
  });

  it("brings the winner of a race to the job's branch, also when its worker dies, and keeps the other lanes", async () => {
    const p = fleetProject(engine().url, { lease: SHORT_LEASE });
    for (const racer of ["quick", "slow"]) p.program(racer, RACER);
    const first = p.worker();
    const race = ["race", "win", "--check", "test -f winner", "--agent", "slow", "--agent", "quick"];
    const id = await p.submit(...race, "--name", "race");
    const lanes = `git -C "${p.remote}" log --format=%s ralph/race-lanes 2>/dev/null || true`;
    await eventually(() => ["quick works", "slow works"].every((text) => p.sh(lanes).includes(text)));
    first.child.kill("SIGKILL");
    p.worker();
    await eventually(() => p.sh(lanes).includes("Take over"));
    writeFileSync(join(p.log, "go"), "");
    expect(await untilEnded(p, id)).toMatchObject({ reason: "all_checks_passed", unpushed: null });
    // What its lane had done with the first worker is part of it.
    expect(pushed(p, "ralph/race", "work")).toBe("quick 1\nquick 2\n");
    expect(pushed(p, "ralph/race", "winner")).toBe("quick was here\n");
    expect(p.sh(`git -C "${p.remote}" log --format=%s ralph/race`)).not.toContain("slow");
    expect(p.sh(lanes)).toContain("slow works");
    const status = await p.ralph("report", id, "--json");
    expect(JSON.parse(status.stdout).lanes.map((lane: { result: string }) => lane.result)).toEqual([
      "won",
      "stopped",
    ]);
  });

  it("lets the lanes finish their iterations when the worker leaves", async () => {
    const p = fleetProject(engine().url);
    for (const racer of ["quick", "fast"]) p.program(racer, RACER);
    const first = p.worker();
    const check = 'test "$(wc -l < work)" -ge 2';
    const id = await p.submit("race", "win", "--check", check, "--agent", "quick", "--agent", "fast");
    const racers = (): string[] =>
      existsSync(join(p.log, "racers")) ? readFileSync(join(p.log, "racers"), "utf8").trim().split("\n") : [];
    await eventually(() => racers().length === 2);
    first.child.kill("SIGTERM");
    const wanted = join(p.home, `.ralph/fleet/claims/${id}-1/home/runs/${id}/paused`);
    await eventually(() => existsSync(wanted));
    writeFileSync(join(p.log, "go"), "");
    expect((await first.result).code).toBe(0);
    expect(racers()).toHaveLength(2);
    expect(lanesOf(await eventsOf(p, id), "iteration.finished").sort()).toEqual(["fast-1", "quick-1"]);
    p.worker();
    expect(await untilEnded(p, id)).toMatchObject({ success: true });
    expect((await eventsOf(p, id)).filter(({ type }) => type === "lease.lost")).toEqual([]);
  });
});
