// `ralph ui` over many runs: what a browser waits for, and what the server takes while runs go on.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startTimeOf } from "../../dist/process/table.js";
import { RALPH } from "../workbench.mjs";

const LIVING = 50;
const BURSTS = 60;
const BURST_LINES = 1000;
const REST_MS = 5000;
/** As Linux counts the time of processes. */
const TICK_MS = 10;

/** `long` is the id of a run with a long journal. Milliseconds; megabytes of the server before and after. */
export async function dashboard(home, env, long) {
  const living = readdirSync(join(home, "runs"))
    .filter((id) => id !== long)
    .slice(0, LIVING);
  for (const id of [long, ...living]) bringToLife(home, id);
  const server = spawn(process.execPath, [RALPH, "ui", "--port", "0", "--no-open"], {
    env: { ...env, RALPH_HOME: home },
  });
  const [said] = await once(server.stdout.setEncoding("utf8"), "data");
  const link = new URL(said.split("\n")[0]);
  const entered = await ask(link);
  const headers = { cookie: entered.headers["set-cookie"][0].split(";")[0] };
  const at = (path) => new URL(path, link);
  const timed = async (path) => {
    const begun = performance.now();
    await ask(at(path), headers);
    return performance.now() - begun;
  };
  const first = (await timed("/")) + (await timed("/api/overview"));
  const later = (await timed("/")) + (await timed("/api/overview"));
  const page = await timed(`/api/runs/${long}`);
  const run = await timed(`/api/runs/${long}/entries`);
  const journal = join(home, "runs", long, "journal.ndjson");
  const stream = await listen(at(`/api/live?watch=${long}:${statSync(journal).size}`), headers);
  const restingFrom = cpuOf(server.pid);
  await sleep(REST_MS);
  const resting = (cpuOf(server.pid) - restingFrom) / (REST_MS / 1000);
  const latencies = [];
  for (let number = 0; number < 20; number += 1) {
    const begun = performance.now();
    const heard = stream.next();
    appendFileSync(journal, lineOf(long));
    await heard;
    latencies.push(performance.now() - begun);
    await sleep(20);
  }
  const burst = async () => {
    const heard = stream.next(BURST_LINES);
    appendFileSync(journal, lineOf(long).repeat(BURST_LINES));
    await heard;
  };
  for (let number = 0; number < BURSTS; number += 1) await burst();
  const before = memoryOf(server.pid);
  for (let number = 0; number < BURSTS; number += 1) await burst();
  const after = memoryOf(server.pid);
  server.kill("SIGINT");
  await once(server, "exit");
  return { first, later, page, run, resting, latency: latencies.sort((a, b) => a - b)[18], before, after };
}

/** This process stands for the loop of the run. */
function bringToLife(home, id) {
  const folder = join(home, "runs", id);
  const journal = join(folder, "journal.ndjson");
  const lines = readFileSync(journal, "utf8").split("\n");
  writeFileSync(journal, lines.filter((line) => !line.includes('"type":"run.finished"')).join("\n"));
  const { workspace } = JSON.parse(readFileSync(join(folder, "spec.json"), "utf8"));
  mkdirSync(join(home, "locks"), { recursive: true });
  const holder = { pid: process.pid, startTime: startTimeOf(process.pid), run: id, workspace };
  writeFileSync(join(home, "locks", `run-${id}.json`), JSON.stringify(holder));
}

function lineOf(run) {
  const event = { type: "text", text: "Some words of an agent." };
  return `${JSON.stringify({ v: 1, type: "agent.event", ts: new Date().toISOString(), run, iteration: 1, event })}\n`;
}

async function ask(url, headers = {}) {
  const [response] = await once(get(url, { headers }), "response");
  response.resume();
  await once(response, "end");
  return response;
}

/** The entries of a stream: `next` resolves when so many more have come. */
async function listen(url, headers) {
  const [response] = await once(get(url, { headers }), "response");
  let [heard, wanted, resolve, rest] = [0, 0, () => {}, ""];
  response.setEncoding("utf8").on("data", (text) => {
    const parts = `${rest}${text}`.split("event: entry");
    heard += parts.length - 1;
    // One that this piece ends in the middle of.
    rest = parts.at(-1).slice(-"event: entr".length);
    if (heard >= wanted) resolve();
  });
  return {
    next: (count = 1) =>
      new Promise((done) => {
        wanted = heard + count;
        resolve = done;
      }),
  };
}

/** Milliseconds that a process has computed so far. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function memoryOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
