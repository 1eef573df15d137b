// Many workers at work at once, in windows of tmux.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readWorker } from "../../dist/workers/worker.js";
import { RALPH } from "../workbench.mjs";

const ITERATIONS = 5;
const WORK = "while [ ! -e go ]; do echo waiting; sleep 1; done; sleep 1; echo hi";

/**
 * How many did not do all their iterations, what the largest took, and how long a look at all of them takes. None
 * gets past its first iteration before the last one is spawned.
 */
export function busyWorkers({ env, project, call, ralph }, count) {
  const run = (...words) => call(process.execPath, [RALPH, ...words]);
  const socket = `ralph-bench-${process.pid}`;
  writeFileSync(join(project, "PROMPT.md"), "x");
  const flags = ["--prompt-file", "PROMPT.md", "-n", String(ITERATIONS), "--tmux-socket", socket];
  const names = Array.from({ length: count }, (_, number) => `busy${number}`);
  const worker = (name) => readWorker(env.RALPH_HOME, name);
  try {
    for (const name of names) run("spawn", "--name", name, ...flags, "--", "sh", "-c", WORK);
    const memory = names.map((name) => residentMb(worker(name).loop?.pid));
    if (memory.includes(0)) throw new Error("a worker has ended before all were at work");
    const memoryMb = Math.max(...memory);
    const listing = ralph("ls");
    writeFileSync(join(project, "go"), "");
    for (const name of names) run("wait", name, "--timeout", "300");
    const isLost = (name) => worker(name).state?.current_iteration !== ITERATIONS;
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
