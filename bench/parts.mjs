// The rows, by part. A part gets the workbench and `row(what, unit, { ours, theirs }, limit)`.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { busyWorkers } from "./measured/busy-workers.mjs";
import { dashboard } from "./measured/dashboard.mjs";
import { httpHook } from "./measured/http-hook.mjs";
import { idleLoops } from "./measured/idle.mjs";
import { writeJournal, writeRuns, writeWorkers } from "./measured/journal.mjs";
import { storiesIn } from "./measured/lanes.mjs";
import { fillWorkspace, looksAt } from "./measured/large-workspace.mjs";
import { soak } from "./measured/soak.mjs";
import { compareReading, writeLines, writeStream } from "./measured/stream.mjs";
import { inTurns, RALPH } from "./workbench.mjs";

const ECHO = ["--agent", "/bin/echo hi"];

export const PARTS = {
  ...{ start, loop, workspace, sandbox, stream, records, idle, soak: longRun },
  ...{ workers, lanes, ui },
};

/** The dashboard over 1,000 runs, 50 of them at work, one with 100,000 events. */
async function ui({ root, project, env }, row) {
  const home = join(root, "home-ui");
  writeRuns(home, project, 1000);
  writeJournal(home, project, 100_000);
  const told = await dashboard(home, env, "20260101-000000-0000");
  const { first, later, page, run, resting, latency, before, after } = told;
  row("`ralph ui`: all runs in a browser, the first time, to 300 ms", "ms", { ours: first, theirs: 300 }, 1);
  row("the same after that, to 300 ms", "ms", { ours: later, theirs: 300 }, 1);
  row("the page of a run with 100,000 events, to 300 ms", "ms", { ours: page, theirs: 300 }, 1);
  row("the end of a journal of 100,000 events, to 300 ms", "ms", { ours: run, theirs: 300 }, 1);
  row("an event of the journal in the stream, to 250 ms", "ms", { ours: latency, theirs: 250 }, 1);
  row("the server's work while nothing happens, to 20 ms a second", "ms", { ours: resting, theirs: 20 }, 1);
  row("the server's memory after 60,000 more events, to before", "MB", { ours: after, theirs: before }, 1.2);
}

/** What a command costs before it does anything. */
async function start({ time, node, ralph, root }, row, { quick }) {
  const rounds = quick ? 7 : 25;
  const version = inTurns(rounds, () => ralph("--version"), node);
  row("`ralph --version`, to `node -e 0`", "ms", version, 1.5);
  const once = inTurns(rounds, () => ralph("run", "-p", "x", "-q", ...ECHO, "-n", "1"), node);
  row("`ralph run -n 1` with an agent that exits at once, to `node -e 0`", "ms", once, 4);
  const transcript = join(root, "transcript.jsonl");
  writeFileSync(transcript, "x".repeat(100_000));
  const input = JSON.stringify({
    session_id: "bench",
    transcript_path: transcript,
    hook_event_name: "PostToolUse",
  });
  const hook = (CLAUDE_CONTEXT_WINDOW) =>
    time(process.execPath, [RALPH, "hook", "context"], { env: { CLAUDE_CONTEXT_WINDOW }, input });
  const context = inTurns(rounds, () => hook("200000"), node);
  row("`ralph hook context`, to `node -e 0`", "ms", context, 1.3);
  const full = inTurns(rounds, () => hook("25000"), node);
  row("the same with a context that is full, to `node -e 0`", "ms", full, 1.3);
  const asked = JSON.stringify({ tool_name: "Bash", tool_input: { command: "npm run build && npm test" } });
  const guard = () => time(process.execPath, [RALPH, "hook", "pre-tool-use"], { input: asked });
  row("`ralph hook pre-tool-use`, to `node -e 0`", "ms", inTurns(rounds, guard, node), 1.3);
  row("an http hook of the loop, to 2 ms", "ms", { ours: await httpHook(transcript), theirs: 2 }, 1);
  const judged = { ours: await httpHook(transcript, "pre-tool-use"), theirs: 2 };
  row("the same for the guard, to 2 ms", "ms", judged, 1);
}

/** What the loop costs, beside the same in a bash loop. */
function loop({ ralph, bash }, row, { quick }) {
  const rounds = quick ? 3 : 7;
  const run = (...args) => ralph("run", "-p", "x", "-q", "--stuck-after", "0", ...ECHO, ...args);
  const ask = 'out=$(echo x | /bin/echo hi); [[ $out == *"<response>DONE"* ]] && break';
  const bashLoop = (count, body) => bash(`for i in $(seq ${count}); do ${body}; done; true`);
  const hundred = inTurns(
    rounds,
    () => run("-n", "100"),
    () => bashLoop(100, ask),
  );
  row("100 iterations, to the same in a bash loop", "ms", hundred, 2);
  if (!quick) {
    const thousand = inTurns(
      3,
      () => run("-n", "1000"),
      () => bashLoop(1000, ask),
    );
    row("1,000 iterations, to the same in a bash loop", "ms", thousand, 2);
  }
  const checked = inTurns(
    rounds,
    () => run("-n", "100", "--check", "git diff HEAD"),
    () => bashLoop(100, `${ask}; sh -c 'git diff HEAD' >/dev/null`),
  );
  row("100 iterations with one check, to the same in a bash loop", "ms", checked, 2);
  const words = ["loop", "x", "-q", "--stuck-after", "0", ...ECHO, "-n", "100", "--check", "test -d .git"];
  const looped = inTurns(
    rounds,
    () => ralph(...words),
    () => bashLoop(100, `${ask}; sh -c 'test -d .git'; git diff HEAD >/dev/null`),
  );
  row("100 iterations of `ralph loop` with one check and a git diff", "ms", looped, 2.4);
}

/** What a loop pays for knowing whether files were changed. */
async function workspace({ project }, row, { quick }) {
  fillWorkspace(project, 20_000);
  const { look, status } = await looksAt(project, quick ? 5 : 15);
  const what = "a look at 20,000 untracked files and one of 5 GB, to `git status` + 50 ms";
  row(what, "ms", { ours: look, theirs: status + 50 }, 3);
}

function sandbox({ ralph }, row) {
  const isThere = (name) => spawnSync(name, ["--version"]).error === undefined;
  if (!["bwrap", "socat", "rg"].every(isThere)) return;
  const once = ["run", "-p", "x", "-q", ...ECHO, "-n", "1"];
  const { ours, theirs } = inTurns(
    9,
    () => ralph(...once, "--sandbox", "srt"),
    () => ralph(...once),
  );
  row("one agent start in srt, more than without, to 300 ms", "ms", { ours: ours - theirs, theirs: 300 }, 1);
}

async function stream({ root, program, call, time, ralph }, row, { quick }) {
  const sample = join(root, "sample.ndjson");
  writeStream(sample, quick ? 20 : 100);
  const reading = await compareReading(sample);
  row("reading an agent stream, to `JSON.parse` of the same bytes", "MB/s", reading, 0.8, { atLeast: true });
  const peak = (megabytes) => {
    const file = join(root, `stream-${megabytes}.ndjson`);
    writeStream(file, megabytes);
    program("claude", `#!/bin/sh\nexec cat ${file}\n`);
    return endOf(call, "run", "-p", "x", "-q", "--agent", "claude", "-n", "1").peakMb;
  };
  const [small, large] = quick ? [10, 20] : [100, 1000];
  const memory = { theirs: peak(small), ours: peak(large) };
  row(`peak memory with a stream of ${large} MB, to one of ${small} MB`, "MB", memory, 1.5);
  row("peak memory in all, to 120 MB", "MB", { ours: memory.ours, theirs: 120 }, 1);
  const lines = join(root, "lines.ndjson");
  writeLines(lines, quick ? 50 : 220);
  program("claude", `#!/bin/sh\nexec cat ${lines}\n`);
  const copy = join(import.meta.dirname, "measured/parse-and-write.mjs");
  const whole = inTurns(
    3,
    () => ralph("run", "-p", "x", "-q", "--agent", "claude", "-n", "1"),
    () => time(process.execPath, [copy, lines, join(root, "copy.ndjson")]),
  );
  row("a run with lines of 1 kB, to parsing them and writing them once", "ms", whole, 3);
  const { peakMb } = endOf(call, "run", "-p", "x", "-q", "--agent", "claude", "-n", "1");
  row("its peak memory, to 120 MB", "MB", { ours: peakMb, theirs: 120 }, 1);
}

function records({ root, project, time }, row) {
  const look = (home, ...args) => time(process.execPath, [RALPH, ...args], { env: { RALPH_HOME: home } });
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
    row(`\`ralph ${command}\` with 100,000 events, to 100 events`, "ms", times, 1.5);
  }
  const crowded = join(root, "home-runs");
  writeRuns(crowded, project, 10_000);
  for (const words of [["runs"], ["runs", "--json"]]) {
    const { ours } = inTurns(
      5,
      () => look(crowded, ...words),
      () => 0,
    );
    row(`\`ralph ${words.join(" ")}\` with 10,000 runs, to 500 ms`, "ms", { ours, theirs: 500 }, 1);
  }
  writeWorkers(few, project, 50);
  const { ours, theirs } = inTurns(
    9,
    () => look(few, "ls"),
    () => look(few, "--help"),
  );
  row("`ralph ls` with 50 workers above `--help`, to 300 ms", "ms", { ours: ours - theirs, theirs: 300 }, 1);
}

async function idle(_, row) {
  row("an idle loop of 200 in one process, to 0.2 MB", "MB", { ours: await idleLoops(200), theirs: 0.2 }, 1);
}

function longRun(workbench, row) {
  const run = (count) => soak(workbench, (...words) => endOf(workbench.call, ...words), count);
  const [hundred, thousand] = [run(100), run(1000)];
  const figure = (name) => ({ ours: thousand[name], theirs: hundred[name] });
  row("peak memory of 1,000 iterations, to 100", "MB", figure("peakMb"), 1.5);
  row("open files after 1,000 iterations, to 100", "files", figure("openFiles"), 1);
  row("disk for each of 1,000 iterations, to 100", "kB", figure("diskKb"), 1.1);
}

function workers(workbench, row, { quick }) {
  if (spawnSync("tmux", ["-V"]).error !== undefined) return;
  const count = quick ? 10 : 50;
  const { lost, memoryMb, listing } = busyWorkers(workbench, count);
  row(
    `busy workers that did all they were asked for, of ${count}`,
    "",
    { ours: count - lost, theirs: count },
    1,
    {
      atLeast: true,
    },
  );
  row(`memory of one of ${count} busy workers, to 120 MB`, "MB", { ours: memoryMb, theirs: 120 }, 1);
  row(`\`ralph ls\` while ${count} workers work, to 2 s`, "s", { ours: listing / 1000, theirs: 2 }, 1);
}

/** Stories in lanes, to the same one after the other. */
function lanes(workbench, row, { quick }) {
  const stories = storiesIn(workbench);
  const run = (count, parallel, seconds) => {
    const words = stories(count, parallel);
    return workbench.time(process.execPath, [RALPH, ...words], { env: { AGENT_S: String(seconds) } }) / 1000;
  };
  const sped = inTurns(
    quick ? 1 : 3,
    () => run(8, 1, 3),
    () => run(8, 4, 3),
  );
  const what = "8 stories, an agent of 3 s: one after the other, to `--parallel 4`";
  row(what, "s", sped, 3.3, { atLeast: true });
  const made = inTurns(
    quick ? 3 : 7,
    () => run(8, 8, 0),
    () => run(2, 2, 0),
  );
  const each = ((made.ours - made.theirs) / 6) * 1000;
  row("one more lane, from its worktree to its landing, to 150 ms", "ms", { ours: each, theirs: 150 }, 1);
  const peak = (count) => endOf(workbench.call, ...stories(count, count)).peakMb;
  const more = Math.max(0, (peak(8) - peak(2)) / 6);
  row("memory of one more lane, to 25 MB", "MB", { ours: more, theirs: 25 }, 1);
}

/** Runs ralph to its end and tells what it had taken by then. */
function endOf(call, ...args) {
  const loaded = ["--import", join(import.meta.dirname, "tell-at-end.mjs")];
  const { stdout, stderr } = call(process.execPath, [...loaded, RALPH, ...args]);
  const [, peak, files] = /^at the end: (\d+) kB, (\d+) files$/m.exec(stderr) ?? [];
  if (peak === undefined) throw new Error(stdout + stderr);
  return { peakMb: Number(peak) / 1024, openFiles: Number(files) };
}
