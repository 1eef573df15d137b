import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../kit.js";
import { createWorkers } from "./kit.js";

describe("the loop of a worker", () => {
  it("tells every exit code as it was, and a signal as a shell does", async () => {
    const p = createWorkers();
    p.write("codes", "0\n7\n0\n255\n0\n");
    await p.sh(
      'read -r code < codes || { kill -9 $$; }; sed -i 1d codes; exit "$code"',
      ..."-n 6 --max-failures 9".split(" "),
    );
    await p.ended();
    const codes = [...p.log().matchAll(/\[END\] iteration \d+ exit=(\d+)/g)].map(([, code]) => Number(code));
    expect(codes).toEqual([0, 7, 0, 255, 0, 137]);
    expect(p.state()).toMatchObject({ total_failures: 3, consecutive_failures: 1, current_iteration: 6 });
  });

  it("waits longer after each failure and gives up", async () => {
    const p = createWorkers();
    await p.sh("exit 3", "--max-failures", "3");
    await p.ended("w", "failed");
    expect(
      p
        .log()
        .replace(/^\S+ /gm, "")
        .replace(/duration=\d+s/g, "duration=Ns"),
    ).toBe(
      [
        "[START] iteration 1/3",
        "[END] iteration 1 exit=3 duration=Ns",
        "[FAIL] iteration 1 exit=3 retrying in 1s (attempt 1/3)",
        "[START] iteration 2/3",
        "[END] iteration 2 exit=3 duration=Ns",
        "[FAIL] iteration 2 exit=3 retrying in 2s (attempt 2/3)",
        "[START] iteration 3/3",
        "[END] iteration 3 exit=3 duration=Ns",
        "[FAIL] 3 consecutive failures, stopping loop",
        "",
      ].join("\n"),
    );
    expect(p.output()).toContain("[ralph] w: iteration 2 failed (exit: 3), retrying in 2s (attempt 2/3)");
    expect(p.output()).toContain("[ralph] w: 3 consecutive failures, stopping loop");
    expect(await p.out("status", "w")).toEqual([1, expect.stringContaining("Status: failed\n")]);
    expect((await p.ralph("wait", "w")).code).toBe(1);
  });

  it("ends an agent whose screen stands still, and goes on", async () => {
    const p = createWorkers();
    await p.sh("echo begun; sleep 100", ..."-n 2 --inactivity-timeout 2".split(" "));
    await p.ended();
    expect(p.log()).toMatch(/\[TIMEOUT\] iteration 1 inactivity timeout \(2s\), restarting\n/);
    expect(p.output()).toContain("[ralph] w: inactivity timeout (2s), restarting");
    expect(p.state()).toMatchObject({ current_iteration: 2, inactivity_timeout: 2 });
  });

  it("stops at the done pattern, and ends the agent that said it", async () => {
    const p = createWorkers();
    p.write("PROMPT.md", 'When finished say "All tasks complete".\nThen stop.');
    await p.sh("cat; sleep 0.3; echo All tasks complete; sleep 100", "--done-pattern", "All tasks complete");
    await p.ended();
    expect(p.log()).toMatch(
      /\[END\] iteration 1 exit=0 .*\n.*\[DONE\] done pattern matched, stopping loop\n$/,
    );
    expect(p.output()).toContain("[ralph] w: done pattern matched, stopping loop");
    expect(p.state()).toMatchObject({ status: "stopped", done_pattern: "All tasks complete" });
    expect((await p.ralph("wait", "w")).code).toBe(0);
  });

  it("stops at the done pattern that a known agent says last, while it hangs", async () => {
    const p = createWorkers();
    const said = {
      type: "assistant",
      message: { id: "m", role: "assistant", content: [{ type: "text", text: "All done." }] },
    };
    p.agent([{ raw: [said], onlyRaw: true, sleepMs: 60_000 }]);
    await p.spawn(["claude"], "--done-pattern", "(?i)all DONE");
    await p.ended();
    expect(p.log()).toContain("[DONE] done pattern matched, stopping loop");
  });

  it("takes a new number of iterations from the state file", async () => {
    const p = createWorkers();
    await p.sh("test -f go && exit 0; touch go; while ! test -f edited; do sleep 0.05; done");
    await eventually(() => p.state().current_iteration === 1);
    writeFileSync(p.file("state.json", "w"), JSON.stringify({ ...p.state(), max_iterations: 2 }));
    p.write("edited", "");
    await p.ended();
    expect(p.log()).toContain("[START] iteration 2/2");
    expect(p.state()).toMatchObject({ current_iteration: 2, max_iterations: 2 });
  });

  it("goes on when somebody removes its files or breaks them", async () => {
    const p = createWorkers();
    await p.sh("echo at work; while ! test -f go; do sleep 0.05; done", "-n", "2");
    await eventually(() => p.output().includes("at work"));
    writeFileSync(p.file("state.json", "w"), '{"max_iter');
    const status = await p.ralph("status", "w");
    expect(status.stderr).toMatch(
      /^ralph: warning: the state file of worker 'w' was unreadable; ralph kept it as \S+state\.json\.damaged-\d+\n$/,
    );
    expect([status.code, status.stdout]).toEqual([
      2,
      "Ralph Loop: w\nStatus: unknown (its state file cannot be read)\n",
    ]);
    const aside = /kept it as (\S+)/.exec(status.stderr)?.[1] as string;
    expect(readFileSync(aside, "utf8")).toBe('{"max_iter');
    expect((await p.ralph("ls", "--status", "unknown", "--format", "names")).stdout).toBe("w\n");
    p.write("go", "");
    await p.ended();
    expect(p.state()).toMatchObject({ current_iteration: 2, max_iterations: 2, worker_name: "w" });
    rmSync(join(p.ralphHome, "workers", "w"), { recursive: true });
    // The name is then that of its run, which has ended.
    expect((await p.ralph("status", "w")).code).toBe(1);
  });

  it("is told something once", async () => {
    const p = createWorkers();
    p.agent([{ text: "a", bash: "while ! test -f go; do sleep 0.05; done" }, { text: "b" }]);
    await p.spawn(["claude"], "--no-done-instruction");
    await eventually(() => p.calls() === 1);
    expect((await p.ralph("steer", "w", "Leave the API alone.")).stdout).toBe(
      "the next iteration of w gets this text\n",
    );
    await p.ralph("steer", "w", "And the tests.");
    p.write("go", "");
    await p.ended();
    expect([1, 2, 3].map((call) => p.prompt(call))).toEqual([
      "do the thing",
      "do the thing\n\nLeave the API alone.\n\nAnd the tests.",
      "do the thing",
    ]);
  });
});
