import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTimeOf } from "../../src/process/table.js";
import { acquireLock, type LockHolder, lockHolder } from "../../src/records/lock.js";
import { temporaryFolder } from "../kit.js";

const LOCK = join(import.meta.dirname, "../../dist/records/lock.js");
const root = process.getuid?.() === 0;
const setpriv = spawnSync("setpriv", ["--version"]).status === 0;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function places(): { home: string; workspace: string; file: string } {
  const folder = temporaryFolder();
  const [home, workspace] = [join(folder, "home"), join(folder, "project")];
  mkdirSync(join(home, "locks"), { recursive: true });
  mkdirSync(workspace);
  const { dev, ino } = statSync(workspace);
  return { home, workspace, file: join(home, "locks", `${dev}-${ino}.json`) };
}

const me = (run: string, workspace: string): LockHolder => ({
  pid: process.pid,
  startTime: startTimeOf(process.pid) as string,
  run,
  workspace,
});

function deadPid(): number {
  return spawnSync("true").pid;
}

/** Starts a program and waits for its first words. */
async function start(file: string, args: string[]): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const said = await new Promise<string>((resolve) => {
    child.stdout.once("data", (data: Buffer) => resolve(data.toString()));
  });
  return { child, said };
}

/** Another process that holds the lock until its stdin ends. */
function loopIn(
  home: string,
  workspace: string,
  run: string,
): Promise<{ child: ChildProcess; said: string }> {
  const code = `
    const { acquireLock } = await import(${JSON.stringify(LOCK)});
    const lock = acquireLock(${JSON.stringify(home)}, { workspace: ${JSON.stringify(workspace)} }, ${JSON.stringify(run)});
    process.stdin.resume().on("end", () => lock.release());
    console.log("held");`;
  return start(process.execPath, ["--input-type=module", "-e", code]);
}

const locked = (pid: number, run: string, workspace: string) =>
  expect.objectContaining({
    name: "RalphError",
    code: "workspace_locked",
    exitCode: 2,
    message: `another loop (pid ${pid}, run ${run}) is running in ${workspace}`,
    hint: expect.stringMatching(/./),
  });

describe("a free workspace", () => {
  it("is locked with pid, start time and run, and free again after the release", () => {
    const { home, workspace, file } = places();
    const lock = acquireLock(home, { workspace }, "run-1");
    expect(lock.stale).toBeUndefined();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(me("run-1", workspace));
    expect(lockHolder(home, { workspace })).toEqual(me("run-1", workspace));
    lock.release();
    expect(lockHolder(home, { workspace })).toBeUndefined();
    expect(readdirSync(join(home, "locks"))).toEqual([]);
    lock.release();
    acquireLock(home, { workspace }, "run-2").release();
  });
});

describe("a locked workspace", () => {
  it("is not locked again, and the loop that holds it is named", async () => {
    const { home, workspace } = places();
    const { child } = await loopIn(home, workspace, "run-1");
    expect(() => acquireLock(home, { workspace }, "run-2")).toThrow(
      locked(child.pid as number, "run-1", workspace),
    );
    expect(lockHolder(home, { workspace })).toMatchObject({ pid: child.pid, run: "run-1" });
    expect(readdirSync(join(home, "locks"))).toHaveLength(1);
  });

  it("is the same folder by whatever path it is reached", () => {
    const { home, workspace } = places();
    const link = join(temporaryFolder(), "link");
    symlinkSync(workspace, link);
    const lock = acquireLock(home, { workspace }, "run-1");
    expect(() => acquireLock(home, { workspace: link }, "run-2")).toThrow(
      locked(process.pid, "run-1", workspace),
    );
    expect(() => acquireLock(home, { workspace: `${workspace}/.` }, "run-2")).toThrow(
      locked(process.pid, "run-1", workspace),
    );
    lock.release();
  });
});

describe("a lock that was left behind", () => {
  const leave = (file: string, holder: unknown): void => writeFileSync(file, JSON.stringify(holder));

  it("by a dead process is taken over and told", () => {
    const { home, workspace, file } = places();
    const holder: LockHolder = { pid: deadPid(), startTime: "1", run: "old", workspace };
    leave(file, holder);
    expect(lockHolder(home, { workspace })).toBeUndefined();
    const lock = acquireLock(home, { workspace }, "run-2");
    expect(lock.stale).toEqual(holder);
    expect(lockHolder(home, { workspace })).toEqual(me("run-2", workspace));
    expect(readdirSync(join(home, "locks"))).toHaveLength(1);
    lock.release();
  });

  it.each(["", "{", '{"pid":', "null", "[]", '{"pid":"12"}', "\0\0\0\0"])(
    "torn as %j is taken over",
    (content) => {
      const { home, workspace, file } = places();
      writeFileSync(file, content);
      expect(lockHolder(home, { workspace })).toBeUndefined();
      const lock = acquireLock(home, { workspace }, "run-2");
      expect(lock.stale).toBeUndefined();
      expect(lockHolder(home, { workspace })).toEqual(me("run-2", workspace));
      lock.release();
    },
  );
});

describe.runIf(root && setpriv)("a lock of another user", () => {
  /** Tries as an ordinary user to lock what root has locked. */
  const tryAsNobody = (home: string, workspace: string): string => {
    chmodSync(home, 0o777);
    chmodSync(join(home, "locks"), 0o777);
    chmodSync(join(home, ".."), 0o755);
    const code = `
      const { acquireLock } = await import(${JSON.stringify(LOCK)});
      try { acquireLock(${JSON.stringify(home)}, { workspace: ${JSON.stringify(workspace)} }, "run-2"); console.log("stolen"); }
      catch (error) { console.log(error.code) }`;
    const user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    const args = [...user, process.execPath, "--input-type=module", "-e", code];
    return execFileSync("setpriv", args, { encoding: "utf8", cwd: "/" }).trim();
  };

  it("holds although its process may not be signalled", () => {
    const { home, workspace, file } = places();
    const lock = acquireLock(home, { workspace }, "run-1");
    chmodSync(file, 0o644);
    expect(tryAsNobody(home, workspace)).toBe("workspace_locked");
    lock.release();
  });
});

describe("many loops that find the same dead lock", () => {
  it("agree on one", async () => {
    const rounds = 30;
    const { home } = places();
    const workspaces = Array.from({ length: rounds }, () => temporaryFolder());
    const pid = deadPid();
    for (const workspace of workspaces) {
      const { dev, ino } = statSync(workspace);
      const holder = { pid, startTime: "1", run: "old", workspace };
      writeFileSync(join(home, "locks", `${dev}-${ino}.json`), JSON.stringify(holder));
    }
    // All wake up at the same moments, try, and keep what they got.
    const code = `
      const { acquireLock } = await import(${JSON.stringify(LOCK)});
      const sleeper = new Int32Array(new SharedArrayBuffer(4));
      const workspaces = ${JSON.stringify(workspaces)};
      process.stdin.once("data", (data) => {
        const begin = Number(data);
        const won = [], failed = [];
        workspaces.forEach((workspace, round) => {
          Atomics.wait(sleeper, 0, 0, Math.max(0, begin + round * 30 - Date.now()));
          try { acquireLock(${JSON.stringify(home)}, { workspace }, "run-" + process.pid); won.push(round); }
          catch (error) { if (error.code !== "workspace_locked") failed.push(String(error)); }
        });
        console.log(JSON.stringify({ won, failed }));
      });
      console.log("ready");`;
    const racers = await Promise.all(
      Array.from({ length: 8 }, () => start(process.execPath, ["--input-type=module", "-e", code])),
    );
    const begin = Date.now() + 100;
    const results = racers.map(
      ({ child }) =>
        new Promise<{ won: number[]; failed: string[] }>((resolve) => {
          child.stdout?.once("data", (data: Buffer) => resolve(JSON.parse(data.toString())));
          child.stdin?.write(`${begin}\n`);
        }),
    );
    const ended = await Promise.all(results);
    const wins = ended.flatMap(({ won }) => won).sort((a, b) => a - b);
    expect(ended.flatMap(({ failed }) => failed)).toEqual([]);
    expect(wins).toEqual(Array.from({ length: rounds }, (_, round) => round));
    expect(readdirSync(join(home, "locks"))).toHaveLength(rounds);
  });
});
