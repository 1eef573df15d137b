import { join } from "node:path";
import { expect, test } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { createProject } from "../kit.js";
import { processesOf } from "./ending.js";

const NODE_OPTIONS = `--require=${join(import.meta.dirname, "jumping-clock.cjs")} --require=${join(import.meta.dirname, "kill-at.cjs")}`;
const DAY_MS = 86_400_000;
const JUMPS: [string, number][] = [
  ["forward by a day", DAY_MS],
  ["back by an hour", -3_600_000],
];
const DONE = { text: "<response>DONE</response>" };
const RUN = [
  "run",
  "-p",
  "a",
  "--json",
  "--max-time",
  "10m",
  "--inactivity-timeout",
  "60",
  "--iteration-timeout",
  "5m",
];

function project(jump: number) {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.agent([
    { bash: `echo ${jump} > "$HOME/jump"; sleep 0.3`, text: "worked" },
    { ...DONE, sleepMs: 200 },
  ]);
  return p;
}

const spans = (events: LoopEvent[]): number[] =>
  events.flatMap((event) => ("durationMs" in event ? [event.durationMs] : []));

test.each(JUMPS)("a clock that jumps %s changes neither limits nor the time at work", async (_, jump) => {
  const p = project(jump);
  const { code, finished, events } = await p.start(RUN, { env: { NODE_OPTIONS } }).result;
  expect({ code, reason: finished.reason, calls: p.calls() }).toEqual({
    code: 0,
    reason: "completed",
    calls: 2,
  });
  const begun = Date.parse(events[0]?.ts ?? "");
  expect(Math.abs(Date.parse(finished.ts) - begun - jump)).toBeLessThan(60_000);
  for (const span of spans(events)) {
    expect(span).toBeGreaterThanOrEqual(0);
    expect(span).toBeLessThan(60_000);
  }
});

test.each(JUMPS)("nor does one that jumps %s before ralph is killed, and resumed", async (_, jump) => {
  const p = project(jump);
  // The first iteration was answered, and not yet verified.
  const env = { NODE_OPTIONS, KILL_AT: "agent.finished after" };
  expect((await p.start(RUN, { env }).result).code).toBeNull();
  const { code, finished } = await p.start(["resume", "--json"], { env: { NODE_OPTIONS } }).result;
  expect({ code, reason: finished.reason, calls: p.calls() }).toEqual({
    code: 0,
    reason: "completed",
    calls: 2,
  });
  expect(finished.durationMs).toBeGreaterThanOrEqual(0);
  expect(finished.durationMs).toBeLessThan(60_000);
  expect(processesOf(p.root)).toEqual([]);
});
