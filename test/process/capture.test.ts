import { describe, expect, it } from "vitest";
import { type Command, capture } from "../../src/process/run.js";

function bash(script: string, more: Partial<Command> = {}): Command {
  return { file: "bash", args: ["-c", script], cwd: "/", env: process.env, ...more };
}

describe("capture", () => {
  it("returns what a program said and how it ended", async () => {
    expect(await capture(bash("cat; echo err >&2", { stdin: "in\n" }))).toEqual({
      ok: true,
      exitCode: 0,
      signal: null,
      timedOut: false,
      durationMs: expect.any(Number),
      stdout: "in\n",
      stderr: "err\n",
    });
  });

  it("is not ok after a death by signal", async () => {
    expect(await capture(bash("kill -KILL $$"))).toMatchObject({
      ok: false,
      ...{ exitCode: null, signal: "SIGKILL" },
    });
  });

  it("is not ok after a timeout", async () => {
    const captured = await capture(bash("sleep 60"), { timeoutMs: 300 });
    expect(captured).toMatchObject({ ok: false, timedOut: true, signal: "SIGTERM" });
  });

  it("keeps the beginning of an endless output and not all of it", async () => {
    const { ok, stdout } = await capture(bash("printf start; head -c 150000000 /dev/zero"));
    expect([ok, stdout.startsWith("start")]).toEqual([true, true]);
    expect(stdout.length).toBeGreaterThan(1024 * 1024);
    expect(stdout.length).toBeLessThanOrEqual(64 * 1024 * 1024);
  });

  it("ends a program that has said enough, and takes that as success", async () => {
    const { ok, stdout } = await capture(bash("yes"), { maxBytes: 100_000 });
    expect([ok, stdout.slice(0, 4)]).toEqual([true, "y\ny\n"]);
    expect(stdout.length).toBeGreaterThan(100_000);
    expect(stdout.length).toBeLessThan(4 * 1024 * 1024);
  });
});
