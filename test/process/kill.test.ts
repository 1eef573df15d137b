import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { findTree, killTree, type ProcessTree } from "../../src/process/kill.js";
import { eventually, isAlive, temporaryFolder } from "../kit.js";

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, "SIGKILL");
});

let count = 0;

interface Family {
  child: ChildProcess;
  tree: ProcessTree & { pid: number };
  folder: string;
  /** Waits for the pid that a member of the family wrote into a file. */
  pid(file: string): Promise<number>;
}

/** A leader in a group of its own with a marker in its environment, as `run` starts it. */
function family(script: string): Family {
  const folder = temporaryFolder();
  count += 1;
  const value = `test.${process.pid}.${count}`;
  const child = spawn("bash", ["-c", script], {
    cwd: folder,
    env: { ...process.env, TEST_MARKER: value },
    detached: true,
    stdio: "ignore",
  });
  const leader = child.pid as number;
  started.push(leader);
  const pid = async (name: string): Promise<number> => {
    const file = join(folder, name);
    await eventually(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
    const found = Number(readFileSync(file, "utf8"));
    started.push(found);
    return found;
  };
  return { child, tree: { pid: leader, marker: `TEST_MARKER=${value}` }, folder, pid };
}

const STUBBORN = 'trap "" TERM; echo $$ > stubborn; while :; do sleep 0.1; done';

describe("findTree", () => {
  it("finds the group, the descendants and what carries the marker, and nothing else", async () => {
    const { tree, pid } = family(`
      sleep 60 & echo $! > grouped
      setsid bash -c 'echo $$ > session; sleep 60 & echo $! > below; wait' &
      setsid --fork bash -c 'echo $$ > adopted; exec sleep 60'
      env -i setsid bash -c 'echo $$ > unmarked; exec sleep 60' &
      wait`);
    const names = ["grouped", "session", "below", "adopted", "unmarked"];
    const family_ = [tree.pid, ...(await Promise.all(names.map(pid)))];
    await eventually(() => findTree(tree).length === family_.length);
    const found = findTree(tree).map((entry) => entry.pid);
    expect(found.sort()).toEqual(family_.sort());
  });

  it("does not take a longer value for the marker", async () => {
    const { tree } = family("sleep 60");
    const shorter = tree.marker.slice(0, -1);
    expect(findTree({ marker: shorter })).toEqual([]);
    expect(findTree({ marker: tree.marker.slice(5) })).toEqual([]);
  });
});

describe("killTree", () => {
  it("lets everybody end by themselves before the grace is over", async () => {
    const { child, tree, folder, pid } = family(`
      setsid bash -c 'trap "echo bye > farewell; exit" TERM; echo $$ > child; while :; do sleep 0.02; done' &
      trap 'wait; exit 3' TERM; wait`);
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve([code, signal])));
    await pid("child");
    await killTree(tree, 60_000);
    expect(await ended).toEqual([3, null]);
    expect(readFileSync(join(folder, "farewell"), "utf8")).toBe("bye\n");
  });

  it("waits for the grace and then kills what is left", async () => {
    const { child, tree, pid } = family(STUBBORN);
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve([code, signal])));
    await pid("stubborn");
    await killTree(tree, 300);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(findTree(tree)).toEqual([]);
  });

  it("kills a process that was suspended", async () => {
    const { tree, pid } = family("echo $$ > stopped; kill -STOP $$; sleep 60");
    const stopped = await pid("stopped");
    await eventually(() => / T /.test(readFileSync(`/proc/${stopped}/stat`, "utf8")));
    await killTree(tree, 100);
    expect(isAlive(stopped)).toBe(false);
  });

  it("kills what its dead leader left behind", async () => {
    const { tree, pid } = family(`setsid --fork bash -c '${STUBBORN}'`);
    const stubborn = await pid("stubborn");
    await eventually(() => !isAlive(tree.pid));
    await killTree({ marker: tree.marker }, 100);
    expect(isAlive(stubborn)).toBe(false);
  });

  it("kills a child without the marker although its parent, which led to it, obeys SIGTERM", async () => {
    const { tree, pid } = family(`env -i PATH="$PATH" setsid bash -c '${STUBBORN}' & wait`);
    const stubborn = await pid("stubborn");
    await killTree(tree, 200);
    expect(isAlive(stubborn)).toBe(false);
  });
});
