import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { claudeProject, createProject, eventually, type Step } from "../kit.js";

const DONE: Step = { text: "<response>DONE</response>" };

describe("failures", () => {
  it("backs off and stops after the maximum of failures in a row", async () => {
    const p = claudeProject({ text: "x", exit: 3, stderr: "not logged in\n" });
    const { code, finished, events } = await p.ralph("run", "-p", "a", "--max-failures", "3", "--json");
    expect({ code, calls: p.calls() }).toEqual({ code: 1, calls: 3 });
    expect(finished).toMatchObject({
      reason: "agent_failed",
      message: "agent failed: exit code 3: not logged in",
    });
    const waits = events.flatMap((event) =>
      event.type === "backoff.started" ? [[event.seconds, event.attempt]] : [],
    );
    expect(waits).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it("asks again for an empty answer, three times, and then takes it for a failure", async () => {
    const p = claudeProject({ onlyRaw: true });
    const { finished, events } = await p.ralph("run", "-p", "a", "--max-failures", "1", "--json");
    expect({ calls: p.calls(), finished }).toMatchObject({
      calls: 4,
      finished: {
        reason: "agent_failed",
        iterations: 1,
        message: "agent failed: no answer, 4 times in a row",
      },
    });
    const attempts = events.flatMap((event) =>
      event.type === "agent.started" ? [[event.iteration, event.attempt]] : [],
    );
    expect(attempts).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [1, 4],
    ]);
  });

  it("takes an agent that vanished for a failed iteration", async () => {
    const p = createProject();
    p.program("once", `#!/bin/sh\ncat >/dev/null\nrm ${join(p.bin, "once")}\necho hello\n`);
    const { finished } = await p.ralph("run", "-p", "a", "--agent", "once", "--max-failures", "1", "--json");
    expect(finished).toMatchObject({
      reason: "agent_failed",
      message: "agent failed: cannot start once: no such file",
    });
  });

  it("survives an agent that never reads its prompt", async () => {
    const p = createProject();
    p.write("P.md", "x".repeat(1_000_000));
    const { code } = await p.ralph(
      ...splitWords("run -f P.md --agent 'echo <response>DONE</response>' -n 1"),
    );
    expect(code).toBe(0);
  });

  it("keeps its memory flat under a long stream", async () => {
    const p = createProject();
    p.program(
      "loud",
      "#!/bin/bash\ncat >/dev/null\nyes 'some words of an agent that talks too much' | head -c 150000000\necho '<response>DONE</response>'\n",
    );
    const run = p.start(["run", "-p", "a", "--agent", "loud", "-n", "1", "-q"]);
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMb(run.child.pid as number));
    }, 50);
    const { code } = await run.result;
    clearInterval(watch);
    expect(code).toBe(0);
    expect(peak).toBeGreaterThan(20);
    // With all of it in memory it would be at least 200.
    expect(peak).toBeLessThan(190);
  });
});

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

describe("signals", () => {
  it("lets the agent finish on the first one, runs no check, and exits 130", async () => {
    const p = claudeProject({ sleepMs: 1500, ...DONE });
    const run = p.start(["run", "-p", "<response>", "--check", "touch checked", "--json"]);
    await eventually(() => p.calls() === 1);
    run.child.kill("SIGINT");
    const { code, stderr, finished, events } = await run.result;
    expect({ code, stderr, reason: finished.reason }).toEqual({
      code: 130,
      stderr:
        "Received signal, shutting down...\nThe current step may finish; a second signal ends it now.\n",
      reason: "interrupted",
    });
    expect(events.find(({ type }) => type === "agent.finished")).toMatchObject({
      exitCode: 0,
      stopped: null,
    });
    expect(p.exists("checked")).toBe(false);
  });

  it("lets the check at work finish and starts no other", async () => {
    const p = claudeProject(DONE);
    const run = p.start([
      "run",
      "-p",
      "a",
      "--check",
      "touch first; sleep 1; touch ended",
      "--check",
      "touch second",
    ]);
    await eventually(() => p.exists("first"));
    run.child.kill("SIGTERM");
    expect((await run.result).code).toBe(130);
    expect([p.exists("ended"), p.exists("second")]).toEqual([true, false]);
  });

  it("kills the whole tree on the second one", async () => {
    const p = claudeProject({ bash: "setsid sleep 4712 & sleep 4712" });
    const run = p.start(["run", "-p", "a", "--json"]);
    await eventually(() => p.sh("pgrep -fx 'sleep 4712' || true").trim().split("\n").length === 2);
    run.child.kill("SIGINT");
    await run.until((output) => output.includes("Received signal"));
    run.child.kill("SIGINT");
    expect((await run.result).code).toBe(130);
    expect(p.sh("pgrep -fx 'sleep 4712' || true")).toBe("");
  });

  it("outlives a terminal that it does not use, as under nohup", async () => {
    const p = claudeProject({ sleepMs: 700, ...DONE });
    const run = p.start(["run", "-p", "a"]);
    await eventually(() => p.calls() === 1);
    run.child.kill("SIGHUP");
    expect((await run.result).code).toBe(0);
  });

  it("takes the end of the terminal that it is shown in for a signal", async () => {
    const p = claudeProject({ sleepMs: 700, ...DONE });
    const ralph = `${process.execPath} ${join(import.meta.dirname, "../../bin/ralph.js")} run -p a`;
    const shown = spawn("script", ["-qec", ralph, "/dev/null"], {
      cwd: p.dir,
      env: p.env,
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = new Promise((resolve) => shown.once("exit", resolve));
    await eventually(() => p.calls() === 1);
    const locks = join(p.home, ".ralph/locks");
    const [lock = ""] = readdirSync(locks);
    process.kill((JSON.parse(readFileSync(join(locks, lock), "utf8")) as { pid: number }).pid, "SIGHUP");
    expect(await ended).toBe(130);
  });
});
