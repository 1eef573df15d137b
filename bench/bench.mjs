// Measures what DESIGN promises as ratios in one run: machines are noisy, ratios are stable.
// `npm run bench` prints the table and exits 1 when a ratio is far over its limit; `--quick` leaves out the
// large streams.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decision, httpHook } from "./http-hook.mjs";
import { idleLoops } from "./idle.mjs";
import { writeJournal, writeWorkers } from "./journal.mjs";
import { compareReading, writeStream } from "./stream.mjs";

const QUICK = process.argv.includes("--quick");
/** How far over its limit a ratio may be before the run counts as failed. */
const TOLERANCE = 1.5;

// In memory where that is possible: the code is measured, not the disk of the day.
const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ralph-bench-"));
const ralph = join(import.meta.dirname, "../bin/ralph.js");
const project = join(root, "project");
const bin = join(root, "bin");
for (const folder of [project, bin]) mkdirSync(folder);
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = {
  ...inherited,
  PATH: `${bin}:${process.env.PATH}`,
  RALPH_HOME: join(root, "home"),
  IS_SANDBOX: "1",
  CI: "",
};

const rows = [];

/** One run of a command, in milliseconds. */
function time(file, args, more = {}, input = "") {
  const begun = performance.now();
  const { status, stderr } = spawnSync(file, args, {
    cwd: project,
    env: { ...env, ...more },
    input,
    encoding: "utf8",
  });
  const took = performance.now() - begun;
  if (status !== 0 && status !== 1) throw new Error(`${file} ${args.join(" ")}: exit ${status}: ${stderr}`);
  return took;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Medians of two measurements that are taken in turns, so that both see the same machine. */
function inTurns(times, ours, theirs) {
  const taken = { ours: [], theirs: [] };
  for (let round = 0; round < times; round += 1) {
    taken.theirs.push(theirs());
    taken.ours.push(ours());
  }
  return { ours: median(taken.ours), theirs: median(taken.theirs) };
}

function row(what, unit, { ours, theirs }, limit, { atLeast = false } = {}) {
  const ratio = ours / theirs;
  const far = atLeast ? ratio < limit / TOLERANCE : ratio > limit * TOLERANCE;
  const met = atLeast ? ratio >= limit : ratio <= limit;
  rows.push({ what, ours, theirs, unit, ratio, limit, atLeast, met, far });
  const sign = atLeast ? "≥" : "≤";
  const figures = `${ours.toFixed(1)} / ${theirs.toFixed(1)} ${unit}`;
  console.log(
    `${met ? "ok  " : "OVER"} ${what.padEnd(62)} ${figures.padStart(24)}  ${ratio.toFixed(2)}×  (${sign} ${limit}×)`,
  );
}

function run(...args) {
  return time(process.execPath, [ralph, "run", "-p", "x", "-q", "--stuck-after", "0", ...args]);
}

function bash(script) {
  return time("bash", ["-c", script]);
}

try {
  spawnSync("git", ["init", "-q", "."], { cwd: project });
  spawnSync(
    "git",
    ["-c", "user.name=b", "-c", "user.email=b@example.invalid", "commit", "-q", "--allow-empty", "-m", "i"],
    {
      cwd: project,
    },
  );
  const node = () => time(process.execPath, ["-e", "0"]);
  row(
    "ralph --version, to node -e 0",
    "ms",
    inTurns(15, () => time(process.execPath, [ralph, "--version"]), node),
    1.5,
  );

  const transcript = join(root, "transcript.jsonl");
  writeFileSync(transcript, "x".repeat(100_000));
  const sent = JSON.stringify({
    session_id: "bench",
    transcript_path: transcript,
    hook_event_name: "PostToolUse",
  });
  const hook = (window) =>
    time(process.execPath, [ralph, "hook", "context"], { CLAUDE_CONTEXT_WINDOW: window }, sent);
  row(
    "ralph hook context, to node -e 0",
    "ms",
    inTurns(15, () => hook("200000"), node),
    1.3,
  );
  row(
    "the same with a context that is full, to node -e 0",
    "ms",
    inTurns(15, () => hook("25000"), node),
    1.3,
  );
  const asked = JSON.stringify({ tool_name: "Bash", tool_input: { command: "npm run build && npm test" } });
  row(
    "ralph hook pre-tool-use, to node -e 0",
    "ms",
    inTurns(41, () => time(process.execPath, [ralph, "hook", "pre-tool-use"], {}, asked), node),
    1.3,
  );
  for (const name of ["context", "pre-tool-use"])
    row(
      `an http hook of the loop (${name}), to 2 ms`,
      "ms",
      { ours: await httpHook(name, transcript), theirs: 2 },
      1,
    );
  row("a decision of the guard, to 1 ms", "ms", { ours: decision(), theirs: 1 }, 1);

  const ask = 'out=$(echo x | /bin/echo hi); [[ $out == *"<response>DONE"* ]] && break';
  const echo = ["--agent", "/bin/echo hi"];
  const loopOf = (count, body) => `for i in $(seq ${count}); do ${body}; done; true`;
  const hundred = inTurns(
    7,
    () => run(...echo, "-n", "100"),
    () => bash(loopOf(100, ask)),
  );
  row("100 iterations, to the same in a bash loop", "ms", hundred, 2.5);
  const thousand = inTurns(
    3,
    () => run(...echo, "-n", "1000"),
    () => bash(loopOf(1000, ask)),
  );
  row("1,000 iterations, to the same in a bash loop", "ms", thousand, 2.5);
  const check = `${ask}; sh -c 'git diff HEAD' >/dev/null`;
  const checked = inTurns(
    5,
    () => run(...echo, "-n", "100", "--check", "git diff HEAD"),
    () => bash(loopOf(100, check)),
  );
  row("100 iterations with one check, to the same in a bash loop", "ms", checked, 1.6);
  const loop = ["loop", "x", "-q", "--stuck-after", "0", ...echo, "-n", "100", "--check", "test -d .git"];
  const looped = inTurns(
    5,
    () => time(process.execPath, [ralph, ...loop]),
    () => bash(loopOf(100, `${ask}; sh -c 'test -d .git'; git diff HEAD >/dev/null`)),
  );
  row("100 iterations of ralph loop with one check and a git diff", "ms", looped, 1.6);

  const isShutIn = ["bwrap", "socat", "rg"].every(
    (name) => spawnSync(name, ["--version"]).error === undefined,
  );
  if (isShutIn) {
    const { ours, theirs } = inTurns(
      9,
      () => run(...echo, "-n", "1", "--sandbox", "srt"),
      () => run(...echo, "-n", "1"),
    );
    row(
      "one agent start in srt, more than without, to 300 ms",
      "ms",
      { ours: ours - theirs, theirs: 300 },
      1,
    );
    const further = inTurns(
      5,
      () => run(...echo, "-n", "11", "--sandbox", "srt") - run(...echo, "-n", "1", "--sandbox", "srt"),
      () => run(...echo, "-n", "11") - run(...echo, "-n", "1"),
    );
    row(
      "each further start in srt, more than without, to 100 ms",
      "ms",
      { ours: (further.ours - further.theirs) / 10, theirs: 100 },
      1,
    );
  }

  const sizes = QUICK ? [10, 20] : [100, 1000];
  const [small, large] = sizes.map((mb) => {
    const file = join(root, `stream-${mb}.ndjson`);
    writeStream(file, mb);
    return file;
  });
  const sample = join(root, "sample.ndjson");
  writeStream(sample, QUICK ? 20 : 100);
  row("reading an agent stream, to JSON.parse of the same bytes", "MB/s", await compareReading(sample), 0.8, {
    atLeast: true,
  });

  const memoryOf = (file) => {
    writeFileSync(join(bin, "claude"), `#!/bin/sh\nexec cat ${file}\n`);
    chmodSync(join(bin, "claude"), 0o755);
    const args = ["--agent", "claude", "-n", "1"];
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", join(import.meta.dirname, "peak-memory.mjs"), ralph, "run", "-p", "x", "-q", ...args],
      { cwd: project, env, encoding: "utf8" },
    );
    const peak = /peak memory (\d+)/.exec(stderr)?.[1];
    if (peak === undefined) throw new Error(stdout + stderr);
    return Number(peak) / 1024;
  };
  const memory = { theirs: memoryOf(small), ours: memoryOf(large) };
  row(`peak memory with a stream of ${sizes[1]} MB, to one of ${sizes[0]} MB`, "MB", memory, 1.5);
  row("peak memory in all, to 120 MB", "MB", { ours: memory.ours, theirs: 120 }, 1);

  const look = (home, ...args) => time(process.execPath, [ralph, ...args], { RALPH_HOME: home });
  const [few, many] = [100, 100_000].map((events) =>
    writeJournal(join(root, `home-${events}`), project, events),
  );
  for (const home of [few, many]) writeWorkers(home, project, 0);
  for (const command of ["runs", "ls", "status w"]) {
    const words = command.split(" ");
    const times = inTurns(
      9,
      () => look(many, ...words),
      () => look(few, ...words),
    );
    row(`ralph ${command} with 100,000 events, to 100 events`, "ms", times, 1.5);
  }
  writeWorkers(few, project, 50);
  const listing = inTurns(
    9,
    () => look(few, "ls"),
    () => look(few, "--help"),
  );
  row(
    "ralph ls with 50 workers above --help, to 300 ms",
    "ms",
    { ours: listing.ours - listing.theirs, theirs: 300 },
    1,
  );

  row("an idle loop of 200 in one process, to 0.2 MB", "MB", { ours: await idleLoops(200), theirs: 0.2 }, 1);
} finally {
  rmSync(root, { recursive: true, force: true });
}

const far = rows.filter((each) => each.far);
if (far.length > 0) {
  console.error(`far over the limit: ${far.map(({ what }) => what).join("; ")}`);
  process.exitCode = 1;
}
