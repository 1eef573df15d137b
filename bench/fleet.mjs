// The load of a fleet: node bench/fleet.mjs URL [JOBS]. URL names an engine that nobody else uses.
import { execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createPostgresBackend, Queue } from "bullmq";
import { fleetAddress, openEngine } from "../dist/fleet/engine.js";

const [url = "", jobs = "200"] = process.argv.slice(2);
const JOBS = Number(jobs);
const WORKERS = 3;
const SLOTS = 4;
const IDLE_MS = 30_000;
const PART_MS = 3000;
const TICKS_A_SECOND = 100;

const root = mkdtempSync(join(tmpdir(), "ralph-load-"));
const project = join(root, "project");
const calls = join(root, "calls");
const env = { ...process.env, RALPH_FLEET: url, HOME: root, RALPH_HOME: join(root, "home") };
const ralph = join(import.meta.dirname, "../bin/ralph.js");
const run = (args) => promisify(execFile)(process.execPath, [ralph, ...args], { cwd: project, env });
const sh = (command) => execFileSync("bash", ["-c", command], { cwd: project, env, stdio: "pipe" });

mkdirSync(project);
writeFileSync(calls, "");
writeFileSync(
  join(root, "agent"),
  `#!/bin/bash\ncat > /dev/null\necho $$ >> ${calls}\nsleep 1\necho x >> n\necho COMPLETE\n`,
  { mode: 0o755 },
);
sh(`git init -q -b main && git config --global user.name load && git config --global user.email load@example.com
echo one > file && git add . && git commit -qm one
git init -q --bare ${root}/remote.git && git remote add origin ${root}/remote.git && git push -q origin main`);
const LOOP = ["loop", "work", "--check", "true", "--agent", join(root, "agent"), "--no-sandbox", "--name"];

const worker = (slots) =>
  spawn(process.execPath, [ralph, "fleet", "worker", "--slots", String(slots)], { cwd: project, env });
const usageOf = ({ pid }) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1];
  return { seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND, mb: Number(resident) / 1024 };
};
const end = async (child) => {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
};
/** Several at a time, until all are done. Returns the seconds that it took. */
const timed = async (count, each) => {
  const begun = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < JOBS) await each(next++);
  };
  await Promise.all(Array.from({ length: count }, lane));
  return (performance.now() - begun) / 1000;
};
const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
const tell = (what, figure) => console.log(`${what}: ${figure}`);

const idle = worker(SLOTS);
await sleep(IDLE_MS / 6);
const before = usageOf(idle);
await sleep(IDLE_MS);
const after = usageOf(idle);
tell(
  "an idle worker",
  `${after.mb.toFixed(0)} MB, ${(((after.seconds - before.seconds) / IDLE_MS) * 1e5).toFixed(2)} % of a core`,
);
await end(idle);

// What an engine does in a second, asked by eight at once: lists of documents, pieces of records, changes of a job.
const engine = await openEngine(fleetAddress({}, env));
const epoch = await engine.store.raiseEpoch("load");
const data = randomBytes(2048);
const aSecond = async (what, each) => {
  const until = performance.now() + PART_MS;
  let count = 0;
  const asker = async (_, at) => {
    for (; performance.now() < until; count += 1) await each(at);
  };
  await Promise.all(Array.from({ length: 8 }, asker));
  tell(`${what} a second`, Math.round((count * 1000) / PART_MS));
};
await aSecond("looks for what people want", () => engine.store.get(["control:a", "control:b", "account:c"]));
await aSecond("pieces of records", (at) =>
  engine.store.append("load", epoch, [{ file: `f${at}`, at: 0, bytes: 4096, data }]),
);
const spare = engine.queue("load");
await aSecond("jobs put into a queue", (at) => spare.add("load", { at }));
await spare.obliterate({ force: true });
await engine.close();

const submitting = await timed(2, (at) => run(["fleet", "submit", ...LOOP, `job-${at}`]));
tell(`${JOBS} submits, 2 at a time`, `${submitting.toFixed(1)} s`);

const queue = url.startsWith("redis")
  ? new Queue("v1", { connection: { url }, prefix: "ralph" })
  : new Queue("v1", { connection: { connectionString: url }, prefix: "ralph" }, createPostgresBackend);
const begun = performance.now();
const workers = Array.from({ length: WORKERS }, () => worker(SLOTS));
while ((await queue.getCompletedCount()) < JOBS) await sleep(200);
const onFleet = (performance.now() - begun) / 1000;
tell(`${JOBS} jobs on ${WORKERS} workers with ${SLOTS} slots`, `${onFleet.toFixed(1)} s`);
const ended = await queue.getCompleted(0, JOBS);
const beside = ended.map((job) => job.finishedOn - job.processedOn - job.returnvalue.finished.durationMs);
tell("a job beside its run, median", `${median(beside).toFixed(0)} ms`);
const done = ended.filter(({ returnvalue }) => returnvalue.finished.success).length;
const called = readFileSync(calls, "utf8").trim().split("\n").length;
tell("done, and calls of the agent", `${done}, ${called}`);
await Promise.all(workers.map(end));
await queue.close();

const here = await timed(WORKERS * SLOTS, (at) => run([...LOOP, `here-${at}`, "--worktree", `here-${at}`]));
tell(
  `the same ${JOBS} runs in worktrees of this machine, ${WORKERS * SLOTS} at a time`,
  `${here.toFixed(1)} s`,
);
tell(
  "a job of the fleet takes longer than such a run by",
  `${(((onFleet - here) * 1000) / JOBS).toFixed(0)} ms`,
);
rmSync(root, { recursive: true, force: true });
