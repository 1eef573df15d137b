import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createRedactor } from "../../src/records/redact.js";
import { type CheckContext, type CheckResult, runCheck } from "../../src/verify/checks.js";
import { eventually, isAlive, temporaryFolder } from "../kit.js";

const strays = new Set<number>();
afterEach(() => {
  for (const pid of strays) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  strays.clear();
});

const SECRET = "topsecret-0123456789";

interface Checked {
  result: CheckResult;
  log: string;
  folder: string;
}

async function check(
  command: string,
  { timeoutMs = 20_000, ...more }: Partial<CheckContext> & { timeoutMs?: number } = {},
  files: Record<string, string> = {},
): Promise<Checked> {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o755 });
  const context: CheckContext = {
    workspace: folder,
    env: process.env,
    redact: createRedactor({ MY_API_KEY: SECRET }),
    kill: new AbortController().signal,
    log: join(folder, "check.log"),
    keep: { chars: 1000, from: "start" },
    ...more,
  };
  const result = await runCheck({ command, timeoutMs }, context);
  return { result, log: existsSync(context.log) ? readFileSync(context.log, "utf8") : "", folder };
}

const keep = (chars: number, from: "start" | "end") => ({ keep: { chars, from } });

describe("the verdict", () => {
  it.each<[string, number]>([
    ["true", 0],
    ["exit 0", 0],
    ["false", 1],
    ["exit 42", 42],
    ["exit 255", 255],
    ["no-such-command-here", 127],
    ["/etc/passwd", 126],
    ["exit 0; false", 0],
    ["false | true", 0],
    ["true && false", 1],
    ["if", 2],
    ["sh -c 'kill -9 $$'", 137],
    ["# nothing", 0],
    ["true # with a comment", 0],
    ["cat <<'X'\ntext\nX\nexit 3", 3],
  ])("of %j is exit code %i", async (command, exitCode) => {
    const { result } = await check(command);
    expect(result).toMatchObject({ exitCode, passed: exitCode === 0, signal: null, timedOut: false });
  });

  it("of a command is the whole result", async () => {
    const { result } = await check("echo out; exit 3");
    expect(result).toEqual({
      exitCode: 3,
      signal: null,
      timedOut: false,
      durationMs: expect.any(Number),
      passed: false,
      tests: expect.anything(),
      output: "out\n",
      tail: "out\n",
      truncated: false,
    });
  });

  /** Stands for a runner: it prints what it is given. */
  const runner = (name: string, output: string): Record<string, string> => ({
    [name]: `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`,
  });

  it.each<[string, Record<string, string>]>([
    ["./pytest -q", runner("pytest", "collected 0 items\n\n==== no tests ran in 0.01s ====")],
    ["./vitest run --passWithNoTests", runner("vitest", "No test files found, exiting with code 0")],
    ["sh -c './jest'", runner("jest", "No tests found, exiting with code 0")],
    ["true && ./mocha", runner("mocha", "\n  0 passing (1ms)\n")],
    ["node --test", {}],
    [
      "npm test",
      { ...runner("mocha", "  0 passing (1ms)"), "package.json": '{"scripts":{"test":"./mocha"}}' },
    ],
    ["make test", { ...runner("pytest", "collected 0 items"), Makefile: "test:\n\t@./pytest\n" }],
    ["sh run.sh", { ...runner("pytest", "3 skipped in 0.01s"), "run.sh": "./pytest\n" }],
    ["./gradlew test", runner("gradlew", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL")],
  ])("of %j that ran no test is not passed", async (command, files) => {
    const { result } = await check(command, {}, files);
    expect(result).toMatchObject({ exitCode: 0, passed: false, why: "exit 0, but no test was run" });
  });

  it.each<[string, Record<string, string>]>([
    ["echo collected 0 items", {}],
    ["echo no tests found", {}],
    ["make all", { Makefile: "all:\n" }],
    ["./gradlew build", runner("gradlew", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL")],
    ["npm test", { "package.json": '{"scripts":{"test":"echo no tests found"}}' }],
    ["./pytest", runner("pytest", "")],
    [
      "./cargo test",
      runner(
        "cargo",
        "running 0 tests\ntest result: ok. 0 passed\nrunning 2 tests\ntest result: ok. 2 passed",
      ),
    ],
    ["./go test ./...", runner("go", "?   \tx/a\t[no test files]\nok  \tx/b\t0.01s")],
  ])("of %j is passed", async (command, files) => {
    const { result } = await check(command, {}, files);
    expect(result).toMatchObject({ exitCode: 0, passed: true });
    expect(result.why).toBeUndefined();
  });

  it("knows of tests that passed before a long table", async () => {
    const table = "seq 1 4000 | sed 's/^/src\\/file-/; s/$/.ts | 100 | 100 |/'";
    const { result } = await check(`echo '  3 passing (1ms)'; ${table}`, keep(1000, "end"));
    expect([result.tests.passed(), result.output.includes("passing")]).toEqual([true, false]);
  });

  it.each(["SIGKILL", "SIGTERM", "SIGSEGV"])("of a death by %s is not passed", async (signal) => {
    const { result } = await check(`ulimit -c 0; kill -${signal.slice(3)} $$; exit 0`);
    expect(result).toMatchObject({ exitCode: null, signal, passed: false, timedOut: false });
  });

  it("of a command that takes too long is not passed, and its tree is gone", async () => {
    const command = "setsid sleep 60 & echo $!; sh -c 'echo $$; exec sleep 60' & wait; exit 0";
    const { result, log } = await check(command, { timeoutMs: 400 });
    expect(result).toMatchObject({ exitCode: null, signal: "SIGTERM", passed: false, timedOut: true });
    const pids = log.trim().split("\n").map(Number);
    for (const pid of pids) strays.add(pid);
    expect(pids).toHaveLength(2);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("of a command that exits 0 when its time is over is not passed", async () => {
    const { result } = await check("trap 'exit 0' TERM; while :; do sleep 0.05; done", { timeoutMs: 300 });
    expect(result).toMatchObject({ exitCode: 0, timedOut: true, passed: false });
  });

  it("comes at once when ralph is told to end", async () => {
    const kill = new AbortController();
    const folder = temporaryFolder();
    const begun = performance.now();
    const running = check(`touch ${folder}/started; sleep 60`, { kill: kill.signal });
    await eventually(() => existsSync(join(folder, "started")));
    kill.abort();
    const { result } = await running;
    expect(result).toMatchObject({ exitCode: null, signal: "SIGTERM", passed: false, timedOut: false });
    expect(performance.now() - begun).toBeLessThan(4000);
  });

  it("in a folder that is gone is a value", async () => {
    const { result } = await check("true", { workspace: "/nowhere" });
    expect(result).toMatchObject({
      exitCode: null,
      passed: false,
      spawnError: expect.objectContaining({ code: "ENOENT" }),
    });
  });
});

describe("a command", () => {
  it("runs in the workspace with its environment and an empty stdin", async () => {
    const { result, folder } = await check('pwd; echo "$X"; cat', {
      env: { PATH: process.env["PATH"], X: "a  b" },
    });
    expect(result.output).toBe(`${folder}\na  b\n`);
  });

  it("is taken by the shell as it was written", async () => {
    const { result } = await check(`echo "it's" 'a "quote"' \\$HOME $((1+2)) "$0" "$#"`);
    expect(result.output).toBe(`it's a "quote" $HOME 3 /bin/sh 0\n`);
  });
});

describe("the output", () => {
  it("holds stdout and stderr in order", async () => {
    const lines = Array.from({ length: 100 }, (_, index) =>
      index % 2 ? `echo ${index} >&2` : `echo ${index}`,
    );
    const { result, log } = await check(lines.join("; "));
    const expected = Array.from({ length: 100 }, (_, index) => `${index}\n`).join("");
    expect([result.output, log]).toEqual([expected, expected]);
  });

  it.each<[string, "start" | "end", number, string, boolean]>([
    ["abcdef", "start", 6, "abcdef", false],
    ["abcdef", "end", 6, "abcdef", false],
    ["abcdef", "start", 5, "abcde", true],
    ["abcdef", "end", 5, "bcdef", true],
    ["äöüß€日", "start", 6, "äöüß€日", false],
    ["äöüß€日", "end", 6, "äöüß€日", false],
    ["äöüß€日", "start", 4, "äöüß", true],
    ["äöüß€日", "end", 4, "üß€日", true],
    ["", "start", 5, "", false],
    ["", "end", 5, "", false],
  ])("%j is kept from the %s at %i characters as %j", async (text, from, chars, output, truncated) => {
    const { result } = await check(`printf %s '${text}'`, keep(chars, from));
    expect([result.output, result.truncated]).toEqual([output, truncated]);
  });

  it.each(["start", "end"] as const)("is exact at the %s of a long output", async (from) => {
    const all = execFileSync("seq", ["1", "100000"], { encoding: "utf8" });
    for (const chars of [1, 999, 5000, all.length - 1, all.length, all.length + 1]) {
      const { result } = await check("seq 1 100000", keep(chars, from));
      const expected = from === "start" ? all.slice(0, chars) : all.slice(-chars);
      expect([result.output === expected, result.truncated]).toEqual([true, chars < all.length]);
    }
  });

  it.each(["start", "end"] as const)(
    "is exact at the %s of a long output of wide characters",
    async (from) => {
      const all = "日本語ä\n".repeat(20_000);
      const { result } = await check(`yes '日本語ä' | head -20000`, keep(777, from));
      expect([
        result.output === (from === "start" ? all.slice(0, 777) : all.slice(-777)),
        result.truncated,
      ]).toEqual([true, true]);
    },
  );

  it.each(["start", "end"] as const)("holds no half of a character at its %s", async (from) => {
    const { result } = await check("printf '%s' '😀😀😀😀'", keep(3, from));
    expect(result.truncated).toBe(true);
    expect(result.output).toMatch(/^(😀)+$/u);
  });

  it("is kept within bounds for a command that never stops talking", async () => {
    const before = process.memoryUsage().rss;
    const { result } = await check("head -c 50000000 /dev/zero | tr '\\0' x; echo END", keep(2000, "end"));
    expect([result.output.length, result.output.endsWith("xEND\n"), result.truncated]).toEqual([
      2000,
      true,
      true,
    ]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it("shows no secret", async () => {
    const { result, log } = await check(`echo key ${SECRET} end`);
    expect([result.output, log]).toEqual(["key [redacted] end\n", "key [redacted] end\n"]);
  });

  it.each([
    ["start", 15],
    ["end", 15],
  ] as const)("shows no part of a secret that is cut at its %s", async (from, chars) => {
    const { result } = await check(`printf %s '12345678${SECRET}87654321'`, keep(chars, from));
    expect(result.output).not.toMatch(/topsec|6789876/);
  });
});

describe("the log", () => {
  it("holds all of the output, whatever is kept", async () => {
    const { log } = await check("seq 1 100000", keep(10, "end"));
    expect(log === execFileSync("seq", ["1", "100000"], { encoding: "utf8" })).toBe(true);
  });

  it("replaces a planted link", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "precious"), "precious");
    symlinkSync(join(folder, "precious"), join(folder, "check.log"));
    await check("echo out", { log: join(folder, "check.log") });
    expect(readFileSync(join(folder, "precious"), "utf8")).toBe("precious");
    expect(readFileSync(join(folder, "check.log"), "utf8")).toBe("out\n");
  });

  it("that cannot be written is told and does not change the verdict", async () => {
    const { result } = await check("echo out", { log: "/nowhere/check.log" });
    expect(result).toMatchObject({ passed: true, output: "out\n", logError: "no such file" });
  });
});
