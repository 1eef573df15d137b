import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeProject } from "../kit.js";

const DONE = { text: "<response>DONE</response>" };
const ASKS = { text: "<promise>BLOCKED: which port?</promise>" };

describe("without a name, a command takes the run of this folder", () => {
  it("that has ended", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "a", "--name", "one");
    const status = await p.ralph("status");
    expect([status.code, status.stdout]).toEqual([1, expect.stringContaining("Ralph Loop: one\n")]);
    expect((await p.ralph("logs")).stdout).toContain("<response>DONE</response>");
    expect((await p.ralph("report")).stdout).toContain("name       one");
    expect((await p.ralph("wait")).code).toBe(0);
  });

  it("that asks", async () => {
    const p = claudeProject(ASKS, DONE);
    await p.ralph("run", "-p", "a", "--name", "one");
    expect((await p.ralph("answer", "8080")).stdout).toBe("answered; ralph resume one continues it\n");
    expect((await p.ralph("resume")).code).toBe(0);
    expect((await p.ralph("wait", "last")).code).toBe(0);
  });

  it("that is running", async () => {
    const p = claudeProject({ text: "x", sleepMs: 60_000 });
    const run = p.start(["run", "-p", "a", "--json", "--name", "one", "--no-inhibit"]);
    await run.until((output) => output.includes("agent.started"));
    const said = async (...words: string[]) => {
      const { code, stdout, stderr } = await p.ralph(...words);
      return [code, stdout + stderr];
    };
    expect(await said("steer", "leave the API alone")).toEqual([
      0,
      "the next iteration of one gets this text\n",
    ]);
    expect(await said("attach")).toEqual([
      1,
      "ralph: error: one runs in another terminal, so it has no window to attach to (ralph logs one --follow shows it live)\n",
    ]);
    expect(await said("send", "yes")).toEqual([
      1,
      "ralph: error: the agent of one does not read from a terminal (ralph steer one TEXT adds it to the next prompt)\n",
    ]);
    expect(await said("wait", "--timeout", "0s")).toEqual([
      124,
      "ralph: warning: one has not ended within 0s\n",
    ]);
    expect(await said("interrupt")).toEqual([0, "interrupted the agent of one; its loop continues\n"]);
    await run.until((output) => output.includes('"iteration.finished"'));
    expect(await said("kill")).toEqual([0, "killed one\n"]);
    expect((await run.result).code).toBe(130);
    expect(await said("kill")).toEqual([
      2,
      `ralph: error: no run is running in ${p.dir} (ralph ls lists those elsewhere)\n`,
    ]);
  });

  it("and says which there are where several are running", async () => {
    const p = claudeProject({ text: "x", sleepMs: 60_000 });
    const runs = await Promise.all(
      ["one", "two"].map(async (name) => {
        const run = p.start(["run", "-p", "a", "--json", "--worktree", "--name", name, "--no-inhibit"]);
        await run.until((output) => output.includes("agent.started"));
        return run;
      }),
    );
    const { code, stderr } = await p.ralph("kill");
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/several runs are active in .*: (one, two|two, one) \(say which one\)\n$/),
    ]);
    expect((await p.ralph("kill", "one", "two", "--rm-worktree")).code).toBe(0);
    await Promise.all(runs.map(({ result }) => result));
    expect(p.sh("git worktree list").trim().split("\n")).toHaveLength(1);
  });
});

describe("last", () => {
  it("is the latest run of this folder, and elsewhere the latest of all", async () => {
    const p = claudeProject(DONE);
    await p.ralph("run", "-p", "a", "--name", "one");
    const sub = join(p.dir, "sub");
    mkdirSync(sub);
    await p.ralphWith({ cwd: sub }, "run", "-p", "b", "--name", "two", "--agent", "claude");
    const named = async (cwd: string) =>
      JSON.parse((await p.ralphWith({ cwd }, "status", "last", "--json")).stdout).name;
    expect([await named(p.dir), await named(sub), await named(p.root)]).toEqual(["one", "two", "two"]);
  });

  it("is nothing where there was no run", async () => {
    const { code, stderr } = await claudeProject().ralph("report", "last");
    expect([code, stderr]).toEqual([2, 'ralph: error: no run yet (ralph run "TEXT" starts one)\n']);
  });
});

describe("ralph logs", () => {
  it("follows a run until it ends", async () => {
    const p = claudeProject({ text: "first", sleepMs: 300 }, DONE);
    const run = p.start(["run", "-p", "a", "--name", "one", "--no-inhibit"]);
    await run.until((output) => output.includes("Iteration 1/10"));
    const logs = await p.start(["logs", "one", "--follow"]).result;
    expect(logs.stdout).toContain("--- Iteration 2/10 ---");
    expect(logs.stdout).toContain("✅ Completed");
    expect((await run.result).stdout).toBe(logs.stdout);
  });

  it("shows so many lines from the end, and the iterations alone", async () => {
    const p = claudeProject({ text: "first" }, DONE);
    await p.ralph("run", "-p", "a", "--name", "one");
    const { stdout } = await p.ralph("logs", "one", "--lines", "2");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect((await p.ralph("logs", "--events")).stdout).not.toContain("first");
  });
});

it.each([
  ["answer one", 'the text is missing (ralph answer one "TEXT")'],
  ["steer last", 'the text is missing (ralph steer last "TEXT")'],
  ["answer", "missing required argument 'text'"],
  ["status oen", "no worker or run is called oen (did you mean one? ralph ls lists the workers"],
  ["clean one", "one is a run, not a worker: its records stay"],
])("ralph %s is one line that says what to do", async (line, message) => {
  const p = claudeProject(DONE);
  await p.ralph("run", "-p", "a", "--name", "one");
  const { code, stderr } = await p.ralph(...line.split(" "));
  expect(code).toBe(2);
  expect(stderr).toContain(`ralph: error: ${message}`);
});
