// A run that goes on and on: what grows with it?
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** `run` runs ralph and tells what it had taken at its end; the disk is counted for each iteration. */
export function soak({ env }, run, iterations) {
  const before = bytesIn(env.RALPH_HOME);
  const words = ["run", "-p", "x", "-q", "--stuck-after", "0", "--agent", "/bin/echo hi", "--check", "false"];
  const end = run(...words, "-n", String(iterations));
  return { ...end, diskKb: (bytesIn(env.RALPH_HOME) - before) / 1000 / iterations };
}

function bytesIn(folder) {
  let bytes = 0;
  try {
    for (const name of readdirSync(folder, { recursive: true })) {
      const stat = statSync(join(folder, name));
      if (stat.isFile()) bytes += stat.size;
    }
  } catch {
    // Nothing was recorded yet.
  }
  return bytes;
}
