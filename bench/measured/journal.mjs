import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What an agent says in one iteration. */
const PER_ITERATION = 1000;
const RUN = "20260101-000000-0000";

/** A home with one run that is at work and has said this much. Returns the home. */
export function writeJournal(home, workspace, events) {
  const folder = join(home, "runs", RUN);
  mkdirSync(folder, { recursive: true });
  const ts = "2026-01-01T00:00:00.000Z";
  const envelope = (type) => ({ v: 1, type, ts, run: RUN });
  const limits = { maxIterations: 10 };
  const spec = {
    v: 1,
    id: RUN,
    createdAt: ts,
    workspace,
    recipe: { kind: "prompt", prompt: "Say some words." },
    agent: { name: "claude", words: ["claude"] },
    limits,
  };
  writeFileSync(join(folder, "spec.json"), JSON.stringify(spec));
  const started = { ...envelope("run.started"), recipe: "prompt", agent: "claude", workspace, limits };
  const event = {
    type: "text",
    text: "Some words of an agent, about as many as agents say at a time. ".repeat(3),
  };
  const said = JSON.stringify({ ...envelope("agent.event"), iteration: 1, event });
  const totals = {
    costUsd: 1,
    inputTokens: 1,
    outputTokens: 1,
    activeMs: 1,
    consecutiveFailures: 0,
    alike: 0,
  };
  const lines = [JSON.stringify(started)];
  for (let number = 1; number <= events; number += 1) {
    lines.push(said);
    if (number % PER_ITERATION !== 0) continue;
    const finished = { iteration: number / PER_ITERATION, passed: true, reason: "", durationMs: 1, totals };
    lines.push(JSON.stringify({ ...envelope("iteration.finished"), ...finished }));
  }
  for (let number = 0; number < PER_ITERATION / 2; number += 1) lines.push(said);
  writeFileSync(join(folder, "journal.ndjson"), `${lines.join("\n")}\n`);
  return home;
}

/** A home with so many runs that have come to their end. */
export function writeRuns(home, workspace, count) {
  const ts = "2026-01-01T00:00:00.000Z";
  const limits = { maxIterations: 10 };
  for (let number = 0; number < count; number += 1) {
    const run = `20260101-000000-${number.toString(16).padStart(6, "0")}`;
    const folder = join(home, "runs", run);
    mkdirSync(folder, { recursive: true });
    const agent = { name: "claude", words: ["claude"] };
    const recipe = { kind: "prompt", prompt: `Do what number ${number} says.` };
    const spec = { v: 1, id: run, createdAt: ts, workspace, recipe, agent, limits };
    writeFileSync(join(folder, "spec.json"), JSON.stringify(spec, null, 2));
    const envelope = (type) => ({ v: 1, type, ts, run });
    const spent = { costUsd: 1, inputTokens: 1, outputTokens: 1, durationMs: 1 };
    const events = [
      { ...envelope("run.started"), recipe: "prompt", agent: "claude", workspace, limits },
      { ...envelope("agent.event"), iteration: 1, event: { type: "text", text: "Some words.".repeat(50) } },
      {
        ...envelope("run.finished"),
        success: true,
        reason: "completed",
        exitCode: 0,
        iterations: 1,
        ...spent,
      },
    ];
    writeFileSync(
      join(folder, "journal.ndjson"),
      events.map((event) => `${JSON.stringify(event)}\n`).join(""),
    );
  }
}

/** The same with a worker for it, and so many others that have ended. */
export function writeWorkers(home, workspace, others) {
  for (const name of ["w", ...Array.from({ length: others }, (_, number) => `w${number}`)]) {
    const folder = join(home, "workers", name);
    mkdirSync(folder, { recursive: true });
    const record = {
      v: 1,
      name,
      run: RUN,
      recipe: "repeat",
      workspace,
      createdAt: "2026-01-01T00:00:00.000Z",
    };
    const place = {
      tags: [],
      env: {},
      tmux: { socket: ["-L", "none"], session: "ralph" },
      onTerminal: false,
    };
    writeFileSync(join(folder, "worker.json"), JSON.stringify({ ...record, ...place }));
    const counts = { max_iterations: 10, current_iteration: 1, consecutive_failures: 0, total_failures: 0 };
    const state = {
      worker_name: name,
      prompt_file: null,
      status: "stopped",
      started: "2026-01-01T00:00:00.000000",
      last_iteration_started: null,
      done_pattern: null,
    };
    writeFileSync(
      join(folder, "state.json"),
      JSON.stringify({ ...state, ...counts, inactivity_timeout: 60 }),
    );
    writeFileSync(join(folder, "output.log"), "some words\n".repeat(1000));
  }
}
