import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, isAlive } from "../kit.js";
import { createWorkers, type Workers } from "./kit.js";

/** Each iteration waits for a file `go-N`, so that the test decides when it ends. */
const STEPS =
  "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; while ! test -f go-$n; do sleep 0.05; done";

async function working(p: Workers, iteration: number): Promise<void> {
  await eventually(() => existsSync(join(p.dir, "n")) && p.read("n").trim() === String(iteration));
}

const edit = (p: Workers, change: object): void =>
  writeFileSync(p.file("state.json", "w"), JSON.stringify({ ...p.state(), ...change }));

describe("a worker whose checks never passed", () => {
  it("of ralph loop has failed, wherever one looks", async () => {
    const p = createWorkers();
    p.agent([{ text: "COMPLETE\n<response>DONE</response>" }]);
    await p.ralph(
      "spawn",
      "--name",
      "w",
      ...["loop", "task", "--check", "echo no; false"],
      "-n",
      "2",
      "--stuck-after",
      "0",
      "--agent",
      "claude",
    );
    expect((await p.ralph("wait", "w")).code).toBe(1);
    expect(p.state().status).toBe("failed");
    const [row] = JSON.parse((await p.ralph("ls", "--format", "json")).stdout);
    expect(row).toMatchObject({ status: "failed", reason: "max_iterations" });
    expect((await p.ralph("ls")).stdout).toMatch(/\nw +stopped: iterations .*stopped: iterations/);
    expect(p.log()).toMatch(
      /\[FAIL\] stopped: iterations \(not verified as done after 2 iterations: .+\)\n$/,
    );
    expect(p.log()).not.toMatch(/complete/i);
    expect(await p.err("resume", "w")).toEqual([2, expect.stringContaining("has reached its limit")]);
  });
});

describe("ralph resume", () => {
  it("leaves a worker that is done alone", async () => {
    const p = createWorkers();
    await p.sh("echo finished", "--done-pattern", "finished");
    await p.ended();
    expect(await p.err("resume", "w")).toEqual([
      0,
      "ralph: warning: worker 'w' is not paused (it is completed)\n",
    ]);
  });
});

describe("ralph clean", () => {
  it("takes a crashed worker, and what its loop had left running", async () => {
    const p = createWorkers();
    await p.sh("echo $$ > pid; sleep 300");
    await eventually(() => existsSync(join(p.dir, "pid")) && p.read("pid") !== "");
    const [loop = 0] = p.loops();
    process.kill(loop, "SIGKILL");
    await eventually(() => !isAlive(loop));
    expect((await p.ralph("clean")).stdout).toBe("cleaned w\n");
    expect([p.exists(), isAlive(Number(p.read("pid")))]).toEqual([false, false]);
  });
});

describe("the state file", () => {
  it.each([0, "many"])("with max_iterations %s is told of, and the old number stays", async (max) => {
    const p = createWorkers();
    await p.sh(STEPS, "-n", "2");
    await working(p, 1);
    edit(p, { max_iterations: max });
    const status = await p.ralph("status", "w");
    expect([status.code, status.stderr]).toEqual([
      0,
      expect.stringContaining("not a whole number of at least 1"),
    ]);
    p.write("go-1", "");
    p.write("go-2", "");
    await p.ended();
    const told = `state.json has max_iterations ${JSON.stringify(max) ?? "(none)"}, which is not a whole number of at least 1; max_iterations stays 2`;
    expect(p.log()).toContain(`[WARN] ${told}\n`);
    expect(p.output()).toContain(`[ralph] w: warning: ${told}\n`);
    expect(p.state()).toMatchObject({ max_iterations: 2, current_iteration: 2 });
  });
});

describe("ralph steer", () => {
  it("says in the last iteration that there is none to come", async () => {
    const p = createWorkers();
    await p.sh(STEPS, "-n", "2");
    await working(p, 1);
    expect((await p.ralph("steer", "w", "one")).stdout).toBe("the next iteration of w gets this text\n");
    p.write("go-1", "");
    await working(p, 2);
    const steered = await p.ralph("steer", "w", "two");
    expect(steered.stdout).toBe(
      "w is in its last iteration (2 of 2): ralph keeps the text until ralph resume w --max-iterations N\n",
    );
    edit(p, { max_iterations: 3 });
    expect((await p.ralph("steer", "w", "three")).stdout).toBe("the next iteration of w gets this text\n");
  });
});
