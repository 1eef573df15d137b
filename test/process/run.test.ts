import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Tree } from "../../src/process/kill.js";
import type { Chunk } from "../../src/process/output.js";
import { type Command, type Exit, MARKER, type RunOptions, run } from "../../src/process/run.js";
import { pidsWithEnvironment, processTable } from "../../src/process/table.js";
import { eventually, isAlive, temporaryFolder } from "../kit.js";

const strays = new Set<number>();
afterEach(() => {
  for (const pid of strays) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  strays.clear();
});

const MEGABYTE = 1024 * 1024;

function bash(script: string, more: Partial<Command> = {}): Command {
  return { file: "bash", args: ["-c", script], cwd: temporaryFolder(), env: process.env, ...more };
}

interface Ended {
  exit: Exit;
  stdout: string;
  stderr: string;
}

async function finish(
  command: Command,
  options: RunOptions = {},
  heard: (stdout: string, chunk: Chunk) => unknown = () => {},
): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  const process = run(command, options);
  let step = await process.next();
  for (; !step.done; step = await process.next()) {
    said[step.value.from] += step.value.data.toString("latin1");
    await heard(said.stdout, step.value);
  }
  return { exit: step.value, ...said };
}

/** Pids that a script prints as `pid NUMBER`; they are ended after the test in any case. */
function pidsIn(output: string): number[] {
  const pids = [...output.matchAll(/^pid (\d+)$/gm)].map((match) => Number(match[1]));
  for (const pid of pids) strays.add(pid);
  return pids;
}

const IGNORES_SIGTERM = `trap "" TERM; echo pid $$; while :; do sleep 0.2; done`;

describe("output and input", () => {
  it("tells stdout from stderr and keeps their order", async () => {
    const folder = temporaryFolder();
    const wait = (name: string) => `until [ -e ${name} ]; do sleep 0.01; done`;
    const chunks: string[] = [];
    await finish(
      bash(`echo one; ${wait("1")}; echo two >&2; ${wait("2")}; echo three`, { cwd: folder }),
      {},
      (_, { from, data }) => {
        chunks.push(`${from} ${data}`);
        writeFileSync(join(folder, String(chunks.length)), "");
      },
    );
    expect(chunks).toEqual(["stdout one\n", "stderr two\n", "stdout three\n"]);
  });

  it("runs in the given folder with the given environment and the marker", async () => {
    const cwd = temporaryFolder();
    const env = { PATH: process.env["PATH"], GREETING: "hi $(x)" };
    const { stdout } = await finish(bash(`pwd; echo "$GREETING"; echo "$${MARKER}"`, { cwd, env }));
    const [folder, greeting, marker] = stdout.split("\n");
    expect([folder, greeting]).toEqual([cwd, "hi $(x)"]);
    expect(marker).toMatch(/^\d+\.\w+\.\d+$/);
  });

  it("passes arguments as they are", async () => {
    const args = ["%s|", "$(touch x)", "`id`", "a b", '"', "'", "", "*", "-n"];
    const { stdout } = await finish({ ...bash(""), file: "printf", args });
    expect(stdout).toBe(args.slice(1).join("|").concat("|"));
  });

  it("writes stdin and ends it", async () => {
    const { stdout, exit } = await finish(bash("cat; echo end", { stdin: "über\nall\n" }));
    expect(Buffer.from(stdout, "latin1").toString()).toBe("über\nall\nend\n");
    expect(exit.exitCode).toBe(0);
  });

  it("gives an empty stdin when there is nothing to say", async () => {
    expect((await finish(bash("cat; echo end"))).stdout).toBe("end\n");
  });

  it.each([
    ["exits at once", "exit 3", 3],
    ["closes its stdin and works on", "exec 0<&-; echo out; sleep 0.2; exit 4", 4],
    ["reads a little", "head -c 10 >/dev/null; exit 5", 5],
    ["never reads", "sleep 0.3; exit 6", 6],
  ])("survives 5 MB for a command that %s", async (_, script, exitCode) => {
    const { exit } = await finish(bash(script, { stdin: "x".repeat(5 * MEGABYTE) }));
    expect(exit).toEqual({ exitCode, signal: null, timedOut: false, durationMs: expect.any(Number) });
  });

  it("brings 5 MB to a command that reads them, and back", async () => {
    const stdin = "0123456789abcde\n".repeat((5 * MEGABYTE) / 16);
    const { stdout, exit } = await finish(bash("cat", { stdin }));
    expect(stdout === stdin).toBe(true);
    expect(exit.exitCode).toBe(0);
  });

  it("does not let a fast command fill the memory of a slow reader", async () => {
    const before = process.memoryUsage().rss;
    let bytes = 0;
    let chunks = 0;
    let peak = 0;
    const reading = run(bash("head -c 200000000 /dev/zero"));
    let step = await reading.next();
    for (; !step.done; step = await reading.next()) {
      bytes += step.value.data.length;
      chunks += 1;
      // The command gets far ahead here, if it is let.
      if (chunks % 200 === 1) await sleep(50);
      else await nextTurn();
      peak = Math.max(peak, process.memoryUsage().rss);
    }
    expect(bytes).toBe(200_000_000);
    expect(peak - before).toBeLessThan(100 * MEGABYTE);
  });

  it("gives all of the output to a reader that is far behind when the command exits", async () => {
    // A little more than twice what is read ahead: its end is still in the pipe when the command exits.
    const size = 35 * 65_536 + 80_000;
    let tree: Tree | undefined;
    let waited = false;
    const { stdout } = await finish(
      bash(`head -c ${size} /dev/zero`),
      { onStart: (started) => (tree = started) },
      async () => {
        if (waited) return;
        await eventually(() => !isAlive(tree?.pid as number), 100).catch(() => {});
        waited = !isAlive(tree?.pid as number);
        if (waited) await sleep(2200);
      },
    );
    expect([stdout.length, waited]).toEqual([size, true]);
  });
});

describe("how it ended", () => {
  it.each([0, 1, 2, 42, 126, 127, 128, 130, 137, 143, 255])("exit code %i", async (exitCode) => {
    const { exit } = await finish(bash(`exit ${exitCode}`));
    expect(exit).toEqual({ exitCode, signal: null, timedOut: false, durationMs: expect.any(Number) });
  });

  it.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGSEGV", "SIGABRT"])("death by %s", async (signal) => {
    const { exit } = await finish(bash(`ulimit -c 0; kill -${signal.slice(3)} $$; exit 0`));
    expect(exit).toEqual({ exitCode: null, signal, timedOut: false, durationMs: expect.any(Number) });
  });

  it("100 instant exits give 100 right exit codes", async () => {
    const codes = Array.from({ length: 100 }, (_, index) => index);
    const ended = await Promise.all(
      codes.map((code) => finish({ ...bash(""), args: ["-c", `exit ${code}`] })),
    );
    expect(ended.map(({ exit }) => exit.exitCode)).toEqual(codes);
  });

  it.each<[string, Partial<Command>, string]>([
    ["a program that is not there", { file: "/nowhere/agent" }, "ENOENT"],
    ["a name that is not on PATH", { file: "no-such-agent-here" }, "ENOENT"],
    ["a folder that is not there", { cwd: "/nowhere" }, "ENOENT"],
    ["a file that is not executable", { file: "/etc/passwd" }, "EACCES"],
    ["a folder in place of a program", { file: "/tmp" }, "EACCES"],
    ["a path through a file", { file: "/etc/passwd/agent" }, "ENOTDIR"],
    ["an argument that is too long", { file: "echo", args: ["x".repeat(200_000)] }, "E2BIG"],
    ["an argument with a NUL byte", { file: "echo", args: ["a\0b"] }, "ERR_INVALID_ARG_VALUE"],
  ])("tells as a value that it cannot start %s", async (_, more, code) => {
    const started: Tree[] = [];
    const { exit, stdout, stderr } = await finish(bash("exit 0", { stdin: "hello", ...more }), {
      onStart: (tree) => started.push(tree),
    });
    expect({ ...exit, stdout, stderr, started }).toEqual({
      exitCode: null,
      signal: null,
      timedOut: false,
      durationMs: expect.any(Number),
      spawnError: expect.objectContaining({ code }),
      stdout: "",
      stderr: "",
      started: [],
    });
  });

  it("waits for a command that closes its output and works on", async () => {
    const { exit, stdout } = await finish(bash("echo out; exec >&- 2>&-; sleep 0.7; exit 9"));
    expect([stdout, exit.exitCode]).toEqual(["out\n", 9]);
    expect(exit.durationMs).toBeGreaterThan(650);
  });

  it("is over soon after the command although a child holds its output open, and nothing is lost", async () => {
    const script = `sleep 60 & echo pid $!; head -c ${MEGABYTE} /dev/zero; printf END; exit 7`;
    const begun = performance.now();
    const { exit, stdout } = await finish(bash(script));
    expect(performance.now() - begun).toBeLessThan(2500);
    const [child] = pidsIn(stdout);
    const rest = stdout.slice(`pid ${child}\n`.length);
    expect(rest === `${"\0".repeat(MEGABYTE)}END`).toBe(true);
    expect(exit).toEqual({ exitCode: 7, signal: null, timedOut: false, durationMs: expect.any(Number) });
  });

  it("is over soon after the command although a child goes on talking", async () => {
    const script = "(while :; do echo noise; sleep 0.05; done) & echo pid $!; exit 0";
    const { exit, stdout } = await finish(bash(script));
    expect(pidsIn(stdout)).toHaveLength(1);
    expect(exit.exitCode).toBe(0);
    expect(exit.durationMs).toBeLessThan(3000);
  });
});

describe("groups and limits", () => {
  it("leads a process group of its own", async () => {
    let tree: Tree | undefined;
    let entry: { pid: number; group: number } | undefined;
    await finish(
      bash("echo; read -r -t 0.2 _ < <(sleep 1)"),
      { onStart: (started) => (tree = started) },
      () => {
        entry ??= processTable().find(({ pid }) => pid === tree?.pid);
      },
    );
    expect(entry).toMatchObject({ pid: tree?.pid, group: tree?.pid, ppid: process.pid });
  });

  it("does not time out a command that is done in time, however long the limit", async () => {
    for (const timeoutMs of [20_000, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const { exit } = await finish(bash("sleep 0.05"), { timeoutMs });
      expect([exit.exitCode, exit.timedOut]).toEqual([0, false]);
    }
  });

  it("does not time out a command that was done while a child still holds its output", async () => {
    const { exit, stdout } = await finish(bash("sleep 60 & echo pid $!; exit 0"), {
      timeoutMs: 200,
      graceMs: 50,
    });
    pidsIn(stdout);
    expect([exit.exitCode, exit.timedOut]).toEqual([0, false]);
  });

  it("kills the tree of a command that takes too long", async () => {
    const script = `sleep 60 & echo pid $!; setsid bash -c '${IGNORES_SIGTERM}' & echo pid $$; wait`;
    const { exit, stdout } = await finish(bash(script), { timeoutMs: 400, graceMs: 200 });
    expect(exit).toEqual({
      exitCode: null,
      signal: "SIGTERM",
      timedOut: true,
      durationMs: expect.any(Number),
    });
    const pids = pidsIn(stdout);
    expect(pids).toHaveLength(3);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(exit.durationMs).toBeLessThan(3000);
  });

  it("ends a command at once when it was stopped before it began, whatever it starts meanwhile", async () => {
    for (let round = 0; round < 5; round += 1) {
      const options = { stop: AbortSignal.abort(), graceMs: 2000 };
      const { exit } = await finish(bash("sleep 60; exit 0"), options);
      expect(exit).toEqual({
        exitCode: null,
        signal: "SIGTERM",
        timedOut: false,
        durationMs: expect.any(Number),
      });
      expect(exit.durationMs).toBeLessThan(1500);
    }
  });

  it("gives a command time to end by itself", async () => {
    const stop = new AbortController();
    const script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done";
    const { exit, stdout } = await finish(bash(script), { stop: stop.signal, graceMs: 5000 }, (said) => {
      if (said.includes("ready")) stop.abort();
    });
    expect([exit.exitCode, stdout]).toEqual([5, "ready\nbye\n"]);
    expect(exit.durationMs).toBeLessThan(3000);
  });

  it("kills a grandchild in a session of its own that ignores SIGTERM", async () => {
    const stop = new AbortController();
    const script = `setsid bash -c '${IGNORES_SIGTERM}' & wait`;
    const { exit, stdout } = await finish(bash(script), { stop: stop.signal, graceMs: 200 }, (said) => {
      if (said.includes("pid")) stop.abort();
    });
    const pids = pidsIn(stdout);
    expect(pids).toHaveLength(1);
    expect(pids.filter(isAlive)).toEqual([]);
    expect([exit.signal, exit.timedOut]).toEqual(["SIGTERM", false]);
  });

  it("finds a child that left its group, its session and its parent by the marker", async () => {
    const stop = new AbortController();
    const cwd = temporaryFolder();
    const script = `setsid --fork bash -c '${IGNORES_SIGTERM}' >pid 2>&1 </dev/null
      until [ -s pid ]; do sleep 0.01; done; cat pid; sleep 60`;
    let tree: Tree | undefined;
    let found: { group: number; ppid: number } | undefined;
    const { stdout } = await finish(
      bash(script, { cwd }),
      { stop: stop.signal, graceMs: 100, onStart: (started) => (tree = started) },
      (said) => {
        const [pid] = pidsIn(said);
        if (pid === undefined) return;
        found = processTable().find((entry) => entry.pid === pid);
        stop.abort();
      },
    );
    expect(found?.group).not.toBe(tree?.pid);
    expect(found?.ppid).not.toBe(tree?.pid);
    expect(pidsIn(stdout).filter(isAlive)).toEqual([]);
    expect(pidsWithEnvironment(tree?.marker as string)).toEqual([]);
  });

  it("leaves nothing of a script that forks all the time and multiplies when it is told to end", async () => {
    const stop = new AbortController();
    const cwd = temporaryFolder();
    const hydra = `trap 'for i in 1 2; do setsid bash hydra.sh & done' TERM
      [ -e ready ] || touch ready
      while :; do setsid sleep 5 & sleep 0.05; done`;
    writeFileSync(join(cwd, "hydra.sh"), hydra);
    let tree: Tree | undefined;
    const ended = finish(bash("bash hydra.sh & bash hydra.sh & bash hydra.sh", { cwd }), {
      stop: stop.signal,
      graceMs: 300,
      onStart: (started) => (tree = started),
    });
    await eventually(() => existsSync(join(cwd, "ready")));
    await eventually(() => pidsWithEnvironment(tree?.marker as string).length > 8);
    stop.abort();
    const { exit } = await ended;
    expect(pidsWithEnvironment(tree?.marker as string)).toEqual([]);
    expect(exit.exitCode).toBe(null);
  });

  it("kills the tree when nobody reads on", async () => {
    const script = `setsid bash -c '${IGNORES_SIGTERM}' & wait`;
    let output = "";
    for await (const { data } of run(bash(script), { graceMs: 100 })) {
      output += data;
      if (output.includes("pid")) break;
    }
    const pids = pidsIn(output);
    expect(pids).toHaveLength(1);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("kills the tree when the reader fails", async () => {
    let output = "";
    const reading = async (): Promise<void> => {
      for await (const { data } of run(bash("sleep 60 & echo pid $!; wait"), { graceMs: 100 })) {
        output += data;
        throw new Error("the reader failed");
      }
    };
    await expect(reading()).rejects.toThrow("the reader failed");
    expect(pidsIn(output).filter(isAlive)).toEqual([]);
    expect(pidsIn(output)).toHaveLength(1);
  });

  it("leaves other commands alone when one is stopped", async () => {
    const stop = new AbortController();
    const other = finish(bash("sleep 0.6; echo fine"));
    const stopped = finish(bash("echo ready; sleep 60"), { stop: stop.signal }, () => stop.abort());
    expect((await stopped).exit.signal).toBe("SIGTERM");
    expect(await other).toMatchObject({ stdout: "fine\n", exit: { exitCode: 0 } });
  });
});
