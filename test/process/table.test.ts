import { spawn, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import {
  environments,
  isNobodyIn,
  isRunning,
  pidsSince,
  processTable,
  startTimeOf,
  variableIn,
} from "../../src/process/table.js";
import { eventually } from "../kit.js";

function deadPid(): number {
  return spawnSync("true").pid;
}

/** Runs an action while a script is there that has said something and reads on. */
async function withChild(script: string, action: (pid: number, output: string) => unknown): Promise<void> {
  const child = spawn("bash", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
  try {
    const output = await new Promise<string>((resolve) => {
      child.stdout.once("data", (data: Buffer) => resolve(data.toString()));
    });
    await action(child.pid as number, output);
  } finally {
    child.kill("SIGKILL");
  }
}

describe("startTimeOf", () => {
  it("is the same whenever it is asked for", async () => {
    const first = startTimeOf(process.pid);
    expect(first).toMatch(/^\d+@[\da-f-]{36}$/);
    await withChild("echo; read _", () => expect(startTimeOf(process.pid)).toBe(first));
    expect(processTable().find(({ pid }) => pid === process.pid)?.startTime).toBe(first);
  });
});

describe("isRunning", () => {
  it("tells the living from the dead, and a pid that is used again from both", async () => {
    const own = startTimeOf(process.pid) as string;
    expect([isRunning(process.pid, own), isRunning(process.pid, ""), isRunning(process.pid, "1")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isRunning(deadPid(), "1")).toBe(false);
    await withChild("echo; read _", (pid) => expect(isRunning(pid, startTimeOf(pid) as string)).toBe(true));
  });

  it("takes a process that nobody has reaped for dead", async () => {
    await withChild("sleep 0.3 & echo $!; exec sleep 60", async (_, output) => {
      const zombie = Number(output);
      await eventually(() => startTimeOf(zombie) === undefined);
      expect(() => process.kill(zombie, 0)).not.toThrow();
      expect(isRunning(zombie, "1")).toBe(false);
    });
  });
});

describe("processTable", () => {
  it("knows parent, group and CPU time", async () => {
    const script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; read _";
    await withChild(script, (pid) => {
      const entry = processTable().find((candidate) => candidate.pid === pid);
      const own = processTable().find((candidate) => candidate.pid === process.pid);
      expect(entry).toEqual({
        pid,
        ppid: process.pid,
        group: own?.group,
        session: own?.session,
        startTime: startTimeOf(pid),
        cpuMs: expect.any(Number),
      });
      expect(entry?.cpuMs).toBeGreaterThanOrEqual(50);
    });
  });

  it("is not confused by parentheses and spaces in the name of a process", async () => {
    const script = `printf ') R 1 1 (x' > /proc/$$/comm; cat /proc/$$/comm; read _`;
    await withChild(script, (pid, name) => {
      expect(name).toBe(") R 1 1 (x\n");
      expect(processTable().find((entry) => entry.pid === pid)).toMatchObject({ pid, ppid: process.pid });
    });
  });
});

describe("isNobodyIn", () => {
  it("says so of no range with a living process, nor where it cannot know", async () => {
    await withChild("echo; read _", (pid) => {
      expect(isNobodyIn({ from: pid, to: pid + 1000 })).toBe(false);
      expect(isNobodyIn(pidsSince(1, Number.POSITIVE_INFINITY))).toBe(false);
      expect(isNobodyIn({ from: 2 ** 30, to: 2 ** 31 })).toBe(false);
    });
  });
});

describe("variableIn", () => {
  it("finds a whole variable, the first one too", async () => {
    const name = `TEST_TABLE_${process.pid}`;
    await withChild(`exec env -i ${name}=one OTHER=two bash -c 'echo; read _'`, (pid) => {
      const text = environments().get(pid);
      expect(variableIn(text, name)).toBe("one");
      expect(variableIn(text, "OTHER")).toBe("two");
      expect(variableIn(text, name.slice(1))).toBeUndefined();
      expect(variableIn(text, name.slice(0, -1))).toBeUndefined();
    });
  });
});
