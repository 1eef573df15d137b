import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createRedactor } from "../../src/records/redact.js";
import { type Check, type CheckSetup, runCheck } from "../../src/verify/check.js";
import { eventually, isAlive, temporaryFolder } from "../kit.js";

const strays = new Set<number>();
afterEach(() => {
  for (const pid of strays) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  strays.clear();
});

const SECRET = "topsecret-0123456789";

async function check(
  command: string,
  more: Partial<Check & CheckSetup> & { kill?: AbortSignal } = {},
  files: Record<string, string> = {},
) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o755 });
  const redact = createRedactor({ MY_API_KEY: SECRET });
  const { kill = new AbortController().signal } = more;
  const log = join(folder, "check.log");
  const given = { command, timeoutMs: 20_000, log, workspace: folder, env: process.env, redact, ...more };
  const result = await runCheck(given, given, { iteration: 1, kill });
  return { ...result, folder, log: existsSync(given.log) ? readFileSync(given.log, "utf8") : "" };
}

describe("the verdict", () => {
  it.each<[string, number]>([
    ["true", 0],
    ["exit 42", 42],
    ["no-such-command-here", 127],
    ["/etc/passwd", 126],
    ["false | true", 0],
    ["sh -c 'kill -9 $$'", 137],
  ])("of %j is exit code %i", async (command, exitCode) => {
    const { event } = await check(command);
    expect(event).toMatchObject({ exitCode, passed: exitCode === 0, signal: null, timedOut: false });
  });

  /** Stands for a runner: it prints what it is given. */
  const runner = (name: string, output: string): Record<string, string> => ({
    [name]: `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`,
  });

  it.each<[string, Record<string, string>]>([
    ["./pytest -q", runner("pytest", "collected 0 items\n\n==== no tests ran in 0.01s ====")],
    ["./vitest run --passWithNoTests", runner("vitest", "No test files found, exiting with code 0")],
    ["node --test", {}],
    [
      "npm test",
      { ...runner("mocha", "  0 passing (1ms)"), "package.json": '{"scripts":{"test":"./mocha"}}' },
    ],
    ["make test", { ...runner("pytest", "collected 0 items"), Makefile: "test:\n\t@./pytest\n" }],
  ])("of %j that ran no test is not passed", async (command, files) => {
    const { event } = await check(command, {}, files);
    expect(event).toMatchObject({ exitCode: 0, passed: false, why: "exit 0, but it ran no test" });
  });

  it.each<[string, Record<string, string>]>([
    ["echo collected 0 items", {}],
    ["npm test", { "package.json": '{"scripts":{"test":"echo no tests found"}}' }],
    [
      "./cargo test",
      runner(
        "cargo",
        "running 0 tests\ntest result: ok. 0 passed\nrunning 2 tests\ntest result: ok. 2 passed",
      ),
    ],
    ["./go test ./...", runner("go", "?   \tx/a\t[no test files]\nok  \tx/b\t0.01s")],
  ])("of %j is passed", async (command, files) => {
    const { event } = await check(command, {}, files);
    expect(event).toMatchObject({ exitCode: 0, passed: true });
    expect(event.why).toBeUndefined();
  });

  it.each(["SIGKILL", "SIGTERM", "SIGSEGV"])("of a death by %s is not passed", async (signal) => {
    const { event } = await check(`ulimit -c 0; kill -${signal.slice(3)} $$; exit 0`);
    expect(event).toMatchObject({ exitCode: null, signal, passed: false, timedOut: false });
  });

  it("of a command that takes too long is not passed, and its tree is gone", async () => {
    const command = "setsid sleep 60 & echo $!; sh -c 'echo $$; exec sleep 60' & wait; exit 0";
    const { event, log } = await check(command, { timeoutMs: 2000 });
    expect(event).toMatchObject({ exitCode: null, signal: "SIGTERM", passed: false, timedOut: true });
    const pids = log.trim().split("\n").map(Number);
    for (const pid of pids) strays.add(pid);
    expect(pids).toHaveLength(2);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("of a command that exits 0 when its time is over is not passed", async () => {
    const { event } = await check("trap 'exit 0' TERM; while :; do sleep 0.05; done", { timeoutMs: 1000 });
    expect(event).toMatchObject({ exitCode: 0, timedOut: true, passed: false });
  });

  it("comes at once when ralph is told to end", async () => {
    const kill = new AbortController();
    const folder = temporaryFolder();
    const running = check(`touch ${folder}/started; sleep 60`, { kill: kill.signal });
    await eventually(() => existsSync(join(folder, "started")));
    kill.abort();
    const { event } = await running;
    expect(event).toMatchObject({ exitCode: null, signal: "SIGTERM", passed: false, timedOut: false });
  });
});

describe("a command", () => {
  it("runs in the workspace with its environment and an empty stdin", async () => {
    const { output, folder } = await check('pwd; echo "$X"; cat', {
      env: { PATH: process.env["PATH"], X: "a  b" },
    });
    expect(output).toBe(`${folder}\na  b\n`);
  });
});

describe("the output", () => {
  it("holds stdout and stderr in order", async () => {
    const lines = Array.from({ length: 100 }, (_, index) =>
      index % 2 ? `echo ${index} >&2` : `echo ${index}`,
    );
    const { output, log } = await check(lines.join("; "));
    const expected = Array.from({ length: 100 }, (_, index) => `${index}\n`).join("");
    expect([output, log]).toEqual([expected, expected]);
  });

  it.each<[string, number, string]>([
    ["abcdef", 5, "... [truncated]\nbcdef"],
    ["äöüß€日", 4, "... [truncated]\nüß€日"],
    ["😀😀😀😀", 3, "... [truncated]\n😀"],
  ])("%j is kept at %i characters as %j", async (text, outputChars, kept) => {
    expect((await check(`printf %s '${text}'`, { outputChars })).event.output).toBe(kept);
  });

  it("names the failures of a long output before its end", async () => {
    const noise = "i=0; while [ $i -lt 3000 ]; do echo noise $i; i=$((i+1)); done";
    const { event } = await check(`echo first; ${noise}; echo 'not ok 7 - adds'; ${noise}; echo last; false`);
    expect(event.output).toMatch(
      /^not ok 7 - adds\n\.\.\. \[truncated\]\nnoise \d+\n(?:noise \d+\n)+last\n$/,
    );
    expect(event.output.length).toBeLessThanOrEqual(5000 + "... [truncated]\n".length);
  });

  it("is kept within bounds for a command that never stops talking, and its log is whole", async () => {
    const before = process.memoryUsage().rss;
    const { event, log } = await check("head -c 50000000 /dev/zero | tr '\\0' x; echo END");
    expect([event.output.length, event.output.endsWith("xEND\n"), log.length]).toEqual([
      "... [truncated]\n".length + 5000,
      true,
      50_000_004,
    ]);
    expect(process.memoryUsage().rss - before - log.length).toBeLessThan(100 * 1024 * 1024);
  });

  it("shows no secret, nor a part of one that is cut", async () => {
    const { output, log } = await check(`echo key ${SECRET} end`);
    expect([output, log]).toEqual(["key [redacted] end\n", "key [redacted] end\n"]);
    const { event } = await check(`echo 'Error: ${SECRET}'; printf %s '12345678${SECRET}87654321'`, {
      outputChars: 15,
    });
    expect(event.output).not.toMatch(/topsec|6789876/);
  });
});
