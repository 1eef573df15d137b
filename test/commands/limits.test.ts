import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, eventually, isAlive, type Project, type Step } from "../kit.js";

const DONE: Step = { text: "<response>DONE</response>" };

function project(...steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.agent(steps);
  return p;
}

const result = (cost: number) => ({ type: "result", subtype: "success", result: "x", total_cost_usd: cost });
const spoke = (input: number) => ({
  type: "assistant",
  message: { id: `m${input}`, content: [{ type: "text", text: "x" }], usage: { input_tokens: input } },
});

describe("limits", () => {
  it("stops after the iteration that used up the budget", async () => {
    const p = project({ text: "no", cost: 0.6 });
    const { code, finished } = await p.ralph("run", "-p", "a", "--max-cost", "1", "--json");
    expect({ code, finished }).toMatchObject({
      code: 1,
      finished: { reason: "budget_exhausted", iterations: 2, costUsd: 1.2 },
    });
  });

  it.each([
    ["cost", ["--max-cost", "1"], { raw: [result(5)], sleepMs: 60_000 }, "budget_exhausted"],
    [
      "tokens",
      ["--max-tokens", "1000"],
      { raw: [spoke(700), spoke(701)], sleepMs: 60_000 },
      "budget_exhausted",
    ],
    ["time", ["--max-time", "1s"], { sleepMs: 60_000 }, "timeout"],
  ] as [string, string[], Step, string][])(
    "cuts the agent off when the %s is passed while it runs",
    async (_, flags, step, reason) => {
      const p = project({ ...step, onlyRaw: true });
      const { code, finished, events } = await p.ralph("run", "-p", "a", ...flags, "--json");
      expect({ code, finished }).toMatchObject({ code: 1, finished: { reason, iterations: 1 } });
      expect(events.find(({ type }) => type === "agent.finished")).toMatchObject({ stopped: reason });
      expect(finished.durationMs).toBeLessThan(20_000);
    },
  );

  it("runs the guardrails also after an agent that was cut off", async () => {
    const p = project({ sleepMs: 60_000 });
    const { events } = await p.ralph("run", "-p", "a", "--max-time", "1s", "--check", "true", "--json");
    expect(events.map(({ type }) => type)).toContain("check.finished");
  });

  it.each([
    ["cost", ["--max-cost", "0.5"]],
    ["tokens", ["--max-tokens", "50"]],
  ])(
    "takes work that is done and verified as success, although its result passes the %s",
    async (_, flags) => {
      const p = project({ ...DONE, cost: 2 });
      expect((await p.ralph("run", "-p", "a", "--check", "true", ...flags)).code).toBe(0);
    },
  );

  it.each([
    ["a plain command", ["--agent", "cat", "--max-cost", "1", "--max-tokens", "9"], ["cost", "tokens"]],
    ["an agent without its stream", ["--no-stream-agent-output", "--max-cost", "1"], ["cost"]],
  ])("warns when %s cannot be held to a limit", async (_, flags, blind) => {
    const { stderr } = await project(DONE).ralph("run", "-p", "a", "-n", "1", ...flags);
    const warned = [...stderr.matchAll(/--max-(\w+) cannot stop it, --max-time can/g)].map(
      ([, what]) => what,
    );
    expect(warned).toEqual(blind);
  });

  it("tells Claude Code what it may still spend", async () => {
    const p = project({ text: "no", cost: 0.4 }, DONE);
    await p.ralph("run", "-p", "a", "--max-cost", "1");
    const budgets = [1, 2].map((call) => p.args(call)[p.args(call).indexOf("--max-budget-usd") + 1]);
    expect(budgets).toEqual(["1", "0.6"]);
  });
});

describe("an agent that does not end", () => {
  it("is killed with its whole tree when the iteration takes too long, and the next one starts", async () => {
    const p = project({ sleepMs: 60_000 }, DONE);
    p.program(
      "stubborn",
      "#!/bin/bash\ntrap '' TERM\ncat >/dev/null\nsetsid bash -c \"trap '' TERM; echo \\$\\$ > child.pid; sleep 600\" &\necho $$ > leader.pid\nwait\nsleep 600\n",
    );
    const { finished } = await p.ralph(
      "run",
      "-p",
      "a",
      "--agent",
      "stubborn",
      "--iteration-timeout",
      "1s",
      "-n",
      "1",
      "--json",
    );
    expect(finished).toMatchObject({ reason: "max_iterations", iterations: 1 });
    const pids = ["child.pid", "leader.pid"].map((file) => Number(p.read(file)));
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it("is killed when it shows no sign of life, which is a failed iteration", async () => {
    const p = project({ sleepMs: 60_000 }, DONE);
    const { code, events } = await p.ralph("run", "-p", "a", "--inactivity-timeout", "1", "--json");
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(events.find(({ type }) => type === "agent.finished")).toMatchObject({
      stopped: "inactivity",
      error: "no sign of life within the inactivity timeout",
    });
  });

  it.each([
    ["changes files", "for i in 1 2 3 4 5 6 7 8; do echo $i > file; sleep 0.5; done"],
    ["uses the processor", "timeout 4 bash -c 'while :; do :; done'; true"],
    ["writes", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done"],
  ])("is left alone while it %s", async (_, work) => {
    const p = createProject();
    p.program("worker", `#!/bin/bash\ncat >/dev/null\n${work}\necho '<response>DONE</response>'\n`);
    const { code } = await p.ralph(
      "run",
      "-p",
      "a",
      "--agent",
      "worker",
      "--inactivity-timeout",
      "2",
      "-n",
      "1",
    );
    expect(code).toBe(0);
  });

  it("has answered when it gave its result and then hung", async () => {
    const p = project({ onlyRaw: true, raw: [{ ...result(1), result: DONE.text }], sleepMs: 60_000 });
    const { code } = await p.ralph("run", "-p", "a", "--inactivity-timeout", "1", "-n", "1");
    expect(code).toBe(0);
  });

  it("is ended some time after its result, also when a child of it is busy", async () => {
    const result = { type: "result", subtype: "success", result: DONE.text };
    const p = project({
      onlyRaw: true,
      raw: [result],
      bash: "timeout 20 bash -c 'while :; do :; done' &>/dev/null &",
      sleepMs: 60_000,
    });
    const begun = Date.now();
    expect((await p.ralph("run", "-p", "a", "--inactivity-timeout", "1", "-n", "1")).code).toBe(0);
    expect(Date.now() - begun).toBeLessThan(10_000);
  });

  it("does not hold the loop when a child of it keeps stdout open", async () => {
    const p = createProject();
    p.program(
      "parent",
      "#!/bin/bash\ncat >/dev/null\nsleep 600 &\necho $! > child.pid\necho '<response>DONE</response>'\n",
    );
    const begun = Date.now();
    const { code } = await p.ralph("run", "-p", "a", "--agent", "parent", "-n", "1");
    process.kill(Number(p.read("child.pid")), "SIGKILL");
    expect({ code, quick: Date.now() - begun < 5000 }).toEqual({ code: 0, quick: true });
  });
});

describe("failures", () => {
  it("backs off and stops after the maximum of failures in a row", async () => {
    const p = project({ text: "x", exit: 3, stderr: "not logged in\n" });
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

  it("starts counting anew after an iteration that went well", async () => {
    const p = project({ exit: 1 }, { text: "fine" }, { exit: 1 }, DONE);
    expect((await p.ralph("run", "-p", "a", "--max-failures", "2")).code).toBe(0);
  });

  it.each([
    [
      "claude: is_error with subtype success",
      "claude",
      [{ ...result(0), is_error: true, result: "API Error: 500" }],
    ],
    [
      "amp: exit 0 after an error",
      "amp",
      [{ type: "result", subtype: "error_during_execution", is_error: true, error: "boom" }],
    ],
    ["codex: a failed turn", "codex", [{ type: "turn.failed", error: { message: "boom" } }]],
    ["gemini: status error", "gemini", [{ type: "result", status: "error", error: { message: "boom" } }]],
    [
      "opencode: an error event",
      "opencode",
      [{ type: "error", error: { name: "APIError", data: { message: "boom" } } }],
    ],
  ])("believes the stream over exit 0 (%s)", async (_, name, raw) => {
    const p = createProject();
    p.agent([{ onlyRaw: true, raw }], { name });
    const { finished } = await p.ralph("run", "-p", "a", "--agent", name, "--max-failures", "1", "--json");
    expect(finished.reason).toBe("agent_failed");
  });

  it("asks again for an empty answer, three times, and then takes it for a failure", async () => {
    const p = project({ onlyRaw: true });
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

  it("goes on in the same iteration when a repeated question is answered", async () => {
    const p = project({ onlyRaw: true }, DONE);
    const { finished } = await p.ralph("run", "-p", "a", "--json");
    expect({ calls: p.calls(), finished }).toMatchObject({
      calls: 2,
      finished: { reason: "completed", iterations: 1 },
    });
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
      "run",
      "-f",
      "P.md",
      "--agent",
      "echo <response>DONE</response>",
      "-n",
      "1",
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
  it("lets the agent finish on the first one, runs no guardrail, and exits 130", async () => {
    const p = project({ sleepMs: 1500, ...DONE });
    const run = p.start(["run", "-p", "<response>", "--check", "touch checked", "--json"]);
    await eventually(() => p.calls() === 1);
    run.child.kill("SIGINT");
    const { code, stderr, finished, events } = await run.result;
    expect({ code, stderr, reason: finished.reason }).toEqual({
      code: 130,
      stderr: "Received signal, shutting down...\nWhat is at work may finish; a second signal ends it now.\n",
      reason: "interrupted",
    });
    expect(events.find(({ type }) => type === "agent.finished")).toMatchObject({
      exitCode: 0,
      stopped: null,
    });
    expect(p.exists("checked")).toBe(false);
  });

  it("lets the guardrail at work finish and starts no other", async () => {
    const p = project(DONE);
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
    const p = project({ bash: "setsid sleep 4712 & sleep 4712" });
    const run = p.start(["run", "-p", "a", "--json"]);
    await eventually(() => p.sh("pgrep -fx 'sleep 4712' || true").trim().split("\n").length === 2);
    run.child.kill("SIGINT");
    await run.until((output) => output.includes("Received signal"));
    run.child.kill("SIGINT");
    expect((await run.result).code).toBe(130);
    expect(p.sh("pgrep -fx 'sleep 4712' || true")).toBe("");
  });

  it("outlives a terminal that it does not use, as under nohup", async () => {
    const p = project({ sleepMs: 700, ...DONE });
    const run = p.start(["run", "-p", "a"]);
    await eventually(() => p.calls() === 1);
    run.child.kill("SIGHUP");
    expect((await run.result).code).toBe(0);
  });

  it("takes the end of the terminal that it is shown in for a signal", async () => {
    const p = project({ sleepMs: 700, ...DONE });
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

  it("ends a wait after a failure at once", async () => {
    const p = project({ exit: 1, text: "x" });
    const run = p.start(["run", "-p", "a", "--json"]);
    await run.until((output) => output.includes('"seconds":2'));
    const begun = Date.now();
    run.child.kill("SIGINT");
    expect((await run.result).code).toBe(130);
    expect(Date.now() - begun).toBeLessThan(1500);
  });
});
