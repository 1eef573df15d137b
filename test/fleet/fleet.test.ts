import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, isAlive } from "../kit.js";
import {
  ENGINES,
  engineOfSuite,
  eventsOf,
  type FleetProject,
  fleetProject,
  hold,
  SHORT_LEASE,
  statusOf,
  untilEnded,
  untilStatus,
} from "./kit.js";

const calls = (p: FleetProject): string[] =>
  existsSync(join(p.log, "calls")) ? readFileSync(join(p.log, "calls"), "utf8").trim().split("\n") : [];
const branchOf = (p: FleetProject, id: string, args: string): string =>
  p.sh(
    `git -C "${p.remote}" ${args} "$(git -C "${p.remote}" for-each-ref --format='%(refname)' 'refs/heads/ralph/*${id.slice(-6)}')"`,
  );

/** Has reached its limit, which holds for an hour. */
const LIMITED = `#!/bin/bash
case "$*" in *--version*|*--help*) exit 0 ;; esac
cat > /dev/null
echo "$$ $RALPH_CLAIM 1" >> "$AGENT_LOG/calls"
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$(($(date +%s) + 3600))',"rateLimitType":"five_hour"}}'
echo '{"type":"result","subtype":"success","is_error":true,"result":"You have hit your limit","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0}}'
exit 1
`;

describe.each(Object.entries(ENGINES))("a fleet on %s", { timeout: 300_000 }, (name, start) => {
  const engine = engineOfSuite(name, start);

  it("runs what was submitted: the same events, the work on its branch, and no secret for the agent", async () => {
    const p = fleetProject(engine().url);
    const id = await p.count(2);
    expect(await statusOf(p, id)).toMatchObject({ status: "queued", iterations: 0 });
    p.worker(["--slots", "2"], { GH_TOKEN: "ghp_0123456789", SSH_AUTH_SOCK: "/nowhere" });
    expect(await untilEnded(p, id)).toMatchObject({
      ...{ kind: "run", run: id, status: "finished", reason: "all_checks_passed", success: true },
      ...{ exitCode: 0, iterations: 2, answered: false, costUsd: null, filesChanged: 1 },
    });
    const events = await eventsOf(p, id);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["run.started", "agent.event", "check.finished", "run.finished"]),
    );
    expect(events.every((event) => event.run === id)).toBe(true);
    expect(branchOf(p, id, "show").includes("+2")).toBe(true);
    const seen = readFileSync(join(p.log, "env"), "utf8");
    expect(seen).not.toMatch(/RALPH_FLEET|GH_TOKEN|SSH_AUTH_SOCK/);
    expect((await p.fleet("status", id)).code).toBe(1);
    expect((await p.ralph("report", id)).stdout).toContain("call 2");
    // Its work is on the remote, and not where ralph land would look.
    const { code, stderr } = await p.ralph("land", id);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`git fetch ${p.remote} ralph/count-`)]);
  });

  it("goes on elsewhere when a worker is killed, with its counters, and ends the agent that it left", async () => {
    const p = fleetProject(engine().url, { lease: SHORT_LEASE });
    const first = p.worker();
    const id = await p.count(3, "--hidden-check", "test -f n", "--name", `kill-${name}`);
    await eventually(() => calls(p).length === 2);
    const release = hold(p);
    await eventually(() => calls(p).length >= 3);
    const [pid = ""] = (calls(p)[2] ?? "").split(" ");
    first.child.kill("SIGKILL");
    await eventually(() => !isAlive(Number(pid)));
    release();
    p.worker();
    const status = await untilEnded(p, id);
    expect([status["reason"], status["failure"]]).toEqual(["all_checks_passed", null]);
    const events = await eventsOf(p, id);
    const finished = events
      .filter((event) => event.type === "iteration.finished")
      .map((event) => event.iteration);
    expect(finished).toEqual(finished.map((_, at) => at + 1));
    expect(events.filter(({ type }) => type === "lease.lost")).toHaveLength(1);
    const log = p.sh(`git -C "${p.remote}" log --format=%s%n%b refs/heads/ralph/kill-${name}`);
    expect(log).toContain("Ralph-Epoch: 2");
  });

  it("lets no worker push that was frozen past its lease", async () => {
    const p = fleetProject(engine().url, { lease: SHORT_LEASE });
    const frozen = p.worker(["--name", "frozen"]);
    const release = hold(p);
    const id = await p.count(1, "--name", `freeze-${name}`);
    await eventually(() => calls(p).length === 1);
    const [pid = ""] = (calls(p)[0] ?? "").split(" ");
    frozen.child.kill("SIGSTOP");
    await eventually(() => !isAlive(Number(pid)));
    release();
    p.worker(["--name", "fresh"]);
    expect(await untilEnded(p, id)).toMatchObject({ success: true, worker: expect.stringMatching(/^fresh/) });
    const tip = p.sh(`git -C "${p.remote}" rev-parse refs/heads/ralph/freeze-${name}`);
    frozen.child.kill("SIGCONT");
    await frozen.until((output) => output.includes("the lease is lost"));
    frozen.child.kill("SIGTERM");
    await frozen.result;
    expect(p.sh(`git -C "${p.remote}" rev-parse refs/heads/ralph/freeze-${name}`)).toBe(tip);
  });

  it("goes on when the engine was away for longer than the lease", async () => {
    const p = fleetProject(engine().url, { lease: SHORT_LEASE });
    const worker = p.worker();
    const release = hold(p);
    const id = await p.count(2);
    await eventually(() => calls(p).length === 1);
    await engine().kill();
    await worker.until((output) => output.includes("the lease is lost"));
    release();
    await engine().start();
    expect(await untilEnded(p, id)).toMatchObject({ reason: "all_checks_passed", iterations: 2 });
  });
});

describe("a fleet on any engine", { timeout: 300_000 }, () => {
  const engine = engineOfSuite("any", ENGINES.redis);

  it("pauses, steers, goes on, hands over when a worker leaves, and cancels", async () => {
    const p = fleetProject(engine().url);
    const first = p.worker();
    const release = hold(p);
    const id = await p.count(90, "-n", "90", "--stuck-after", "0");
    await eventually(() => calls(p).length === 1);
    expect((await p.fleet("pause", id)).code).toBe(0);
    expect((await p.fleet("steer", id, "Mind the gap.")).code).toBe(0);
    // The worker looks every second, and the agent is at work until then.
    const wanted = join(p.home, `.ralph/fleet/claims/${id}-1/home/runs/${id}`);
    await eventually(() => existsSync(join(wanted, "paused")) && existsSync(join(wanted, "steering.json")));
    release();
    await untilStatus(p, id, ({ status }) => status === "paused");
    expect(calls(p)).toHaveLength(1);
    expect((await p.fleet("resume", id)).code).toBe(0);
    await eventually(() => calls(p).length >= 3);
    expect(readFileSync(join(p.log, "prompt.2"), "utf8")).toContain("Mind the gap.");
    expect(readFileSync(join(p.log, "prompt.3"), "utf8")).not.toContain("Mind the gap.");
    first.child.kill("SIGTERM");
    expect((await first.result).code).toBe(0);
    expect(await statusOf(p, id)).toMatchObject({ status: "queued", reason: null });
    const before = calls(p).length;
    p.worker();
    await eventually(() => calls(p).length > before);
    expect((await p.fleet("cancel", id)).code).toBe(0);
    expect(await untilEnded(p, id)).toMatchObject({ reason: "interrupted", exitCode: 130 });
    const events = await eventsOf(p, id);
    expect(events.filter(({ type }) => type === "lease.lost")).toEqual([]);
    expect(events.filter(({ type }) => type === "run.finished")).toHaveLength(2);
  });

  it("brings an answer to the agent that has asked", async () => {
    const p = fleetProject(engine().url);
    writeFileSync(join(p.log, "question"), "");
    p.worker();
    const id = await p.count(2);
    expect(await untilEnded(p, id)).toMatchObject({ reason: "blocked", question: { text: "which one?" } });
    expect(await p.fleet("resume", id)).toMatchObject({ code: 2 });
    expect(await p.fleet("answer", id, "The second.")).toMatchObject({ code: 0 });
    expect(await p.fleet("resume", id)).toMatchObject({ code: 0 });
    expect(await untilEnded(p, id)).toMatchObject({ success: true, iterations: 2 });
    expect(readFileSync(join(p.log, "prompt.2"), "utf8")).toContain("The answer is: The second.");
  });

  it("gives jobs to workers with their tags, the higher priority first, within the budget of the day", async () => {
    const p = fleetProject(engine().url);
    const loop = ["loop", "count", "--check", "true"];
    const docker = await p.submit(...loop, "--name", "docker", "--tag", "docker", "--max-cost", "0.5");
    const low = await p.submit(...loop, "--name", "low");
    const high = await p.submit(...loop, "--name", "high", "--priority", "5");
    const plain = p.worker();
    await untilEnded(p, low);
    const order = calls(p).map((line) => line.split(" ")[1]);
    expect(order).toEqual([`${high}-1`, `${low}-1`]);
    expect(await statusOf(p, docker)).toMatchObject({ status: "queued" });
    plain.child.kill("SIGTERM");
    await plain.result;
    const last = await p.submit(...loop, "--name", "late", "--max-cost", "0.1");
    const next = ["--tag", "docker", "--priority", "5", "--max-cost", "0.1"];
    const first = await p.submit(...loop, "--name", "first", ...next);
    p.worker(["--tag", "docker", "--max-cost", "1"]);
    expect(await untilEnded(p, docker)).toMatchObject({ success: true });
    expect(await untilEnded(p, last)).toMatchObject({ success: true });
    expect(calls(p)[2]).toContain(`${first}-1`);
    const dear = await p.submit(...loop, "--name", "dear", "--max-cost", "9");
    await untilStatus(p, dear, ({ waits }) => String(waits).includes("budget"));
    expect((await p.fleet("cancel", dear)).code).toBe(0);
    await untilStatus(p, dear, ({ status }) => status === "cancelled");
  });

  it("asks no agent of an account whose limit another worker has met", async () => {
    const p = fleetProject(engine().url);
    p.program("claude", LIMITED);
    const loop = ["loop", "count", "--check", "true", "--agent", "claude"];
    for (const [at, worker] of ["first", "second"].entries()) {
      p.worker(["--name", worker]);
      const id = await p.submit(...loop, "--name", `${worker}-limit`);
      await untilStatus(p, id, ({ status }) => status === "waiting");
      expect([at, calls(p).length]).toEqual([at, 1]);
    }
  });
});
