import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { findTree, type ProcessTree } from "../../src/process/kill.js";
import type { Chunk } from "../../src/process/output.js";
import { type Command, type Exit, MARKER, type RunOptions, run } from "../../src/process/run.js";
import { processTable } from "../../src/process/table.js";
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

  it.each([
    ["über\nall\n", "über\nall\nend\n"],
    [undefined, "end\n"],
  ])("writes stdin %j and ends it", async (stdin, expected) => {
    const { stdout } = await finish(bash("cat; echo end", stdin === undefined ? {} : { stdin }));
    expect(Buffer.from(stdout, "latin1").toString()).toBe(expected);
  });

  it.each([
    ["closes its stdin and works on", "exec 0<&-; echo out; sleep 0.2; exit 4", 4],
    ["reads a little", "head -c 10 >/dev/null; exit 5", 5],
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
});

describe("how it ended", () => {
  it.each([
    ...[0, 1, 126, 127, 130, 137, 255].map(
      (exitCode) => [`exit ${exitCode}`, { exitCode, signal: null }] as const,
    ),
    ...["KILL", "TERM", "INT", "HUP", "SEGV"].map(
      (name) => [`kill -${name} $$; exit 0`, { exitCode: null, signal: `SIG${name}` }] as const,
    ),
  ])("is an exit code or a signal: %s", async (script, expected) => {
    const { exit } = await finish(bash(`ulimit -c 0; ${script}`));
    expect(exit).toEqual({ ...expected, timedOut: false, durationMs: expect.any(Number) });
  });

  it.each<[string, Partial<Command>, string]>([
    ["a program that is not there", { file: "/nowhere/agent" }, "ENOENT"],
    ["a folder that is not there", { cwd: "/nowhere" }, "ENOENT"],
    ["a file that is not executable", { file: "/etc/passwd" }, "EACCES"],
    ["an argument that is too long", { file: "echo", args: ["x".repeat(200_000)] }, "E2BIG"],
  ])("tells as a value that it cannot start %s", async (_, more, code) => {
    const started: ProcessTree[] = [];
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
  });

  it("is over soon after the command although a child holds its output open, and nothing is lost", async () => {
    const script = `sleep 60 & echo pid $!; head -c ${MEGABYTE} /dev/zero; printf END; exit 7`;
    const { exit, stdout } = await finish(bash(script));
    const [child] = pidsIn(stdout);
    const rest = stdout.slice(`pid ${child}\n`.length);
    expect(rest === `${"\0".repeat(MEGABYTE)}END`).toBe(true);
    expect(exit).toEqual({ exitCode: 7, signal: null, timedOut: false, durationMs: expect.any(Number) });
  });
});

describe("groups and limits", () => {
  it("leads a process group of its own", async () => {
    const cwd = temporaryFolder();
    let tree: ProcessTree | undefined;
    let entry: { pid: number; group: number } | undefined;
    const script = "echo; until [ -e seen ]; do sleep 0.02; done";
    await finish(bash(script, { cwd }), { onStart: (started) => (tree = started) }, () => {
      entry ??= processTable().find(({ pid }) => pid === tree?.pid);
      writeFileSync(join(cwd, "seen"), "");
    });
    expect(entry).toMatchObject({ pid: tree?.pid, group: tree?.pid, ppid: process.pid });
  });

  it("kills the tree of a command that takes too long", async () => {
    const script = `sleep 60 & echo pid $!; setsid bash -c '${IGNORES_SIGTERM}' & echo pid $$; wait`;
    const { exit, stdout } = await finish(bash(script), { timeoutMs: 2500, graceMs: 200 });
    expect(exit).toEqual({
      exitCode: null,
      // On a busy machine, what is told to end can be late.
      signal: expect.stringMatching(/^SIG(?:TERM|KILL)$/),
      timedOut: true,
      durationMs: expect.any(Number),
    });
    const pids = pidsIn(stdout);
    expect(pids).toHaveLength(3);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it("gives a command time to end by itself", async () => {
    const stop = new AbortController();
    const script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done";
    const { exit, stdout } = await finish(bash(script), { stop: stop.signal, graceMs: 5000 }, (said) => {
      if (said.includes("ready")) stop.abort();
    });
    expect([exit.exitCode, stdout]).toEqual([5, "ready\nbye\n"]);
  });

  it("leaves nothing of a script that forks all the time and multiplies when it is told to end", async () => {
    const stop = new AbortController();
    const cwd = temporaryFolder();
    const hydra = `trap 'for i in 1 2; do setsid bash hydra.sh & done' TERM
      [ -e ready ] || touch ready
      while :; do setsid sleep 5 & sleep 0.05; done`;
    writeFileSync(join(cwd, "hydra.sh"), hydra);
    let tree: ProcessTree | undefined;
    const ended = finish(bash("bash hydra.sh & bash hydra.sh & bash hydra.sh", { cwd }), {
      stop: stop.signal,
      graceMs: 300,
      onStart: (started) => (tree = started),
    });
    await eventually(() => existsSync(join(cwd, "ready")));
    await eventually(() => findTree({ marker: tree?.marker as string }).length > 8);
    stop.abort();
    const { exit } = await ended;
    expect(findTree({ marker: tree?.marker as string })).toEqual([]);
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
});
