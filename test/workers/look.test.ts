import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../kit.js";
import { createWorkers } from "./kit.js";

const WAIT = "echo at work; while ! test -f go; do sleep 0.05; done";

/** Whether these signals wait for a process, as far as the system tells. */
function hasPending(pid: number, signals: number[]): boolean {
  if (!existsSync("/proc/self/status")) return true;
  const mask = /^ShdPnd:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return signals.every((signal) => (BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n);
}

describe("ralph ls", () => {
  it("lists workers and runs that are at work, as a table, as JSON and as names", async () => {
    const p = createWorkers();
    await p.sh(WAIT, "--tag", "team");
    p.agent([{ text: "a", sleepMs: 60_000 }]);
    mkdirSync(join(p.dir, "sub"));
    const run = p.start(["run", "-p", "x", "--json", "--agent", "claude", "--name", "r"], {
      cwd: join(p.dir, "sub"),
    });
    await run.until((output) => output.includes("agent.started"));
    await eventually(() => p.output().includes("at work"));
    const rows = JSON.parse((await p.ralph("ls", "--format", "json")).stdout);
    const id = rows[1].run;
    expect(rows).toEqual([
      {
        kind: "worker",
        name: "w",
        run: expect.stringMatching(/^\d{8}-\d{6}-\w+$/),
        recipe: "repeat",
        status: "running",
        result: "running",
        reason: null,
        question: null,
        iteration: 1,
        maxIterations: 3,
        startedAt: expect.any(String),
        activeMs: expect.any(Number),
        costUsd: null,
        lastLine: "at work",
        workspace: p.dir,
        tags: ["team"],
        metadata: { ralph: true, ralph_iteration: 1 },
      },
      expect.objectContaining({
        kind: "run",
        name: "r",
        recipe: "prompt",
        status: "running",
        metadata: { ralph: false, ralph_iteration: 1 },
      }),
    ]);
    const names = async (...flags: string[]) => (await p.ralph("ls", "--format", "names", ...flags)).stdout;
    expect(await names()).toBe("w\nr\n");
    expect(await names("--tag", "team")).toBe("w\n");
    expect(await names("--status", "paused")).toBe("");
    expect((await p.ralph("ls")).stdout).toMatch(
      /^NAME +STATUS +ITER +TIME +COST +FOLDER +LAST LINE\nw +running +1\/3 +[\d.]+s +- +project +at work\n/,
    );
    // It hears of it late, and of both signals at once.
    const pid = run.child.pid as number;
    process.kill(pid, "SIGSTOP");
    const killing = p.ralph("kill", id);
    await eventually(() => hasPending(pid, [2, 15]));
    process.kill(pid, "SIGCONT");
    const killed = await killing;
    expect([killed.code, killed.stdout]).toEqual([0, "killed r\n"]);
    expect((await run.result).finished.reason).toBe("interrupted");
    expect(await names("--status", "running")).toBe("w\n");
    expect(await names("--status", "interrupted")).toBe("r\n");
    expect((await p.ralph("ls")).stdout).toMatch(/\nr +interrupted +0\//);
  });

  it.each([
    ["--format", "xml", "--format xml: expected table, json, names"],
    [
      "--status",
      "happy",
      "--status happy: expected running, pausing, paused, waiting, cut off, unknown, done, stopped, failed, stuck, blocked, violation, interrupted, error",
    ],
  ])("refuses %s %s", async (flag, value, message) => {
    const p = createWorkers({ git: false });
    expect(await p.err("ls", flag, value)).toEqual([2, `ralph: error: ${message}\n`]);
    expect((await p.ralph("ls")).stdout).toContain("No workers, and no runs today.");
  });
});

describe("ralph status", () => {
  it("shows the block of the seed, and as JSON what the list shows", async () => {
    const p = createWorkers();
    await p.sh(WAIT, "--done-pattern", "All tasks complete");
    await eventually(() => p.output().includes("at work"));
    const { stdout, code } = await p.ralph("status", "w");
    expect(code).toBe(0);
    expect(stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME")).toBe(
      [
        "Ralph Loop: w",
        "Status: running",
        "Iteration: 1/3",
        "Started: TIME",
        "Current iteration started: TIME",
        "Consecutive failures: 0",
        "Total failures: 0",
        "Inactivity timeout: 60s",
        "Done pattern: All tasks complete",
        "",
      ].join("\n"),
    );
    expect(JSON.parse((await p.ralph("status", "w", "--json")).stdout)).toMatchObject({
      worker_name: "w",
      status: "running",
      current_iteration: 1,
      done_pattern: "All tasks complete",
      lastLine: "at work",
    });
    expect(await p.err("status", "ww")).toEqual([
      2,
      expect.stringContaining("no worker or run is called ww"),
    ]);
  });
});

describe("ralph logs", () => {
  it("shows the end, follows until the loop has ended, and has the log of the iterations", async () => {
    const p = createWorkers();
    await p.sh(`seq 300; ${WAIT}; echo the end`, "-n", "1");
    await eventually(() => p.output().includes("at work"));
    expect((await p.ralph("logs", "w", "--lines", "3")).stdout).toBe("299\n300\nat work\n");
    expect((await p.ralph("logs", "w")).stdout.split("\n")).toHaveLength(101);
    const following = p.start(["logs", "w", "--follow", "--lines", "1"]);
    await following.until((output) => output.includes("at work"));
    p.write("go", "");
    const { stdout, code } = await following.result;
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^at work\nthe end\n[\s\S]*loop complete after 1/),
    ]);
    expect((await p.ralph("logs", "w", "--events")).stdout).toMatch(/ \[START\] iteration 1\/1\n.* \[END\] /);
    expect(await p.err("logs", "w", "--lines", "0")).toEqual([
      2,
      "ralph: error: --lines 0: expected a whole number of at least 1\n",
    ]);
  });

  it("does not let what an agent printed steer the terminal", async () => {
    const p = createWorkers();
    await p.sh("printf '\\033[31mred\\033[0m\\033]0;title\\007\\n'", "-n", "1");
    await p.ended();
    appendFileSync(p.file("output.log", "w"), "\u001b[2Jplanted\n");
    const { stdout } = await p.ralph("logs", "w");
    expect(stdout).toContain("\nred\n");
    expect(stdout).toMatch(/\nplanted\n$/);
    expect(stdout).not.toContain("\u001b");
    rmSync(p.file("output.log", "w"));
    const nothing = await p.ralph("logs", "w");
    expect([nothing.code, nothing.stderr]).toEqual([1, "ralph: error: w has no output yet\n"]);
  });
});
