import { spawn } from "node:child_process";
import { expect, it } from "vitest";
import { readOutput } from "../../src/process/output.js";

const BUSY_MS = 400;
/** As on a machine whose processors are busy with others: this process does nothing for so long. */
const beHeldUp = (): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);

it("loses nothing of what a process has written when this one is held up after its exit", async () => {
  const { stdout, stderr } = spawn("echo", ["said"]);
  const output = readOutput({ stdout, stderr }, Promise.resolve());
  const first = output.next();
  // It waits for more now, for a while.
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
  beHeldUp();
  const { value } = await first;
  expect(String(value?.data)).toBe("said\n");
});
