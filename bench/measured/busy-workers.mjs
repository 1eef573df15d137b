// Many workers at work at once, in windows of tmux.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workerFolder } from "../../dist/workers/folder.js";
import { standingOf } from "../../dist/workers/status.js";
import { RALPH } from "../workbench.mjs";

const ITERATIONS = 5;

/** How many did not do all their iterations, what the largest took, and how long a look at all of them takes. */
export function busyWorkers({ env, project, call, ralph }, count) {
  const run = (...words) => call(process.execPath, [RALPH, ...words]);
  const socket = `ralph-bench-${process.pid}`;
  writeFileSync(join(project, "PROMPT.md"), "x");
  const flags = ["--prompt-file", "PROMPT.md", "-n", String(ITERATIONS), "--tmux-socket", socket];
  const names = Array.from({ length: count }, (_, number) => `busy${number}`);
  const standing = (name) => standingOf(workerFolder(env.RALPH_HOME, name), env.RALPH_HOME);
  try {
    for (const name of names) run("spawn", "--name", name, ...flags, "--", "sh", "-c", "sleep 1; echo hi");
    const memoryMb = Math.max(...names.map((name) => residentMb(standing(name).loop?.pid)));
    const listing = ralph("ls");
    for (const name of names) run("wait", name, "--timeout", "300");
    const isLost = (name) => standing(name).state?.current_iteration !== ITERATIONS;
    return { lost: names.filter(isLost).length, memoryMb, listing };
  } finally {
    call("tmux", ["-L", socket, "kill-server"]);
  }
}

/** 0 for one that has ended. */
function residentMb(pid) {
  if (pid === undefined) return 0;
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  } catch {
    return 0;
  }
}
