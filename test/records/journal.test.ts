import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEvent, LoopEventBody, Totals } from "../../src/events.js";
import { openJournal, repairJournal } from "../../src/records/journal.js";
import { readJournal } from "../../src/records/read.js";
import { advance, initialState, type RunState } from "../../src/records/run-state.js";
import { eventually, LIMITS, temporaryFolder } from "../kit.js";
import { carried } from "./carried.js";

const RUN = "20260126-185500-3f9a";
const TOTALS: Totals = {
  costUsd: 1.5,
  inputTokens: 100,
  outputTokens: 20,
  activeMs: 9000,
  consecutiveFailures: 1,
  alike: 2,
};
const BEGUN = Date.parse("2026-01-26T18:55:00.000Z");

/** An event as the loop writes it, some seconds after the run began. */
function at(seconds: number, body: LoopEventBody): LoopEvent {
  const ts = new Date(BEGUN + seconds * 1000).toISOString();
  return Object.assign({ v: 1 as const, type: body.type, ts, run: RUN }, body) as LoopEvent;
}

const started = at(0, {
  type: "run.started",
  recipe: "prompt",
  agent: "claude",
  credentials: null,
  workspace: "/w",
  limits: LIMITS,
});
const said = (seconds: number, text: string): LoopEvent =>
  at(seconds, { type: "agent.event", iteration: 1, event: { type: "text", text } });
const finished = (seconds: number, iteration: number, totals = TOTALS): LoopEvent =>
  at(seconds, {
    type: "iteration.finished",
    iteration,
    passed: false,
    reason: "not done",
    durationMs: 5,
    claimedDone: false,
    totals,
    failure: "f",
    tree: "t",
    memory: { feedback: ["ü\n"] },
  });
const agentStarted = (seconds: number): LoopEvent =>
  at(seconds, {
    type: "agent.started",
    iteration: 2,
    agent: "claude",
    command: ["claude"],
    attempt: 1,
    prompt: "",
  });

function lines(events: LoopEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

function journalOf(content: string): string {
  const path = join(temporaryFolder(), "journal.ndjson");
  writeFileSync(path, content);
  return path;
}

function fold(events: LoopEvent[]): RunState {
  return events.reduce(advance, initialState(RUN));
}

describe("writing", () => {
  it("has written a decision when append returns, and what the agent said before it", () => {
    const path = join(temporaryFolder(), "journal.ndjson");
    const journal = openJournal(path);
    journal.append(started.type, JSON.stringify(started));
    expect(readFileSync(path, "utf8")).toBe(lines([started]));
    journal.append("agent.event", JSON.stringify(said(1, "hi")));
    journal.append("iteration.finished", JSON.stringify(finished(2, 1)));
    expect(readFileSync(path, "utf8")).toBe(lines([started, said(1, "hi"), finished(2, 1)]));
    journal.close();
  });

  it("writes what an agent says soon, without anything else happening", async () => {
    const path = join(temporaryFolder(), "journal.ndjson");
    const journal = openJournal(path);
    journal.append("agent.event", JSON.stringify(said(1, "hi")));
    await eventually(() => readFileSync(path, "utf8") === lines([said(1, "hi")]), 2000);
    journal.close();
  });
});

describe("reading", () => {
  it("says where the next line begins: before what is torn", () => {
    for (const events of [[], [started], [started, finished(2, 1), said(2, "ü".repeat(300_000))]]) {
      const whole = lines(events);
      const { end } = readJournal(journalOf(`${whole}{"v":1,"type":"run.`), RUN);
      expect(end).toBe(Buffer.byteLength(whole));
    }
  });

  it("is not misled by an agent that quotes a journal", () => {
    const quote = lines([finished(1, 77)]);
    const events = [started, finished(2, 1), said(3, quote), said(4, quote)];
    expect(readJournal(journalOf(lines(events)), RUN).state.iterations).toBe(1);
  });

  it("finds the last finished iteration wherever its mark falls between blocks", () => {
    const rest = agentStarted(9);
    for (const size of [4096, 256 * 1024, 512 * 1024]) {
      for (let shift = -160; shift <= 160; shift += 8) {
        const padding = said(8, "x".repeat(size + shift - lines([rest, said(8, "")]).length));
        const events = [started, finished(1, 1), finished(2, 2), padding, rest];
        expect(readJournal(journalOf(lines(events)), RUN).state).toMatchObject({
          iterations: 2,
          lastAt: rest.ts,
          agent: "claude",
        });
      }
    }
  });

  it("passes over what an agent said since the last finished iteration, and misses nothing", () => {
    const talk = Array.from({ length: 5000 }, (_, index) => said(3 + index / 1000, `line ${index}`));
    for (const events of [
      [started, ...talk, finished(200, 1)],
      [started, finished(2, 1), agentStarted(3), ...talk],
    ]) {
      const { atWork: _, ...expected } = carried(fold(events));
      expect(readJournal(journalOf(lines(events)), RUN).state).toMatchObject(expected);
    }
  });
});

describe("repair", () => {
  it("keeps a journal with an unreadable line beside it, names the copy, and the rest is readable", () => {
    const content = `${lines([started, finished(2, 1)])}{"v":1,"type":"iter\0\0\n${lines([agentStarted(3)])}`;
    const path = journalOf(content);
    const copy = repairJournal(path) as string;
    expect(dirname(copy)).toBe(dirname(path));
    expect(readFileSync(copy, "utf8")).toBe(content);
    expect(readFileSync(path, "utf8")).toBe(lines([started, finished(2, 1), agentStarted(3)]));
    expect(readJournal(path, RUN)).toEqual({
      state: fold([started, finished(2, 1), agentStarted(3)]),
      unreadable: 0,
      end: readFileSync(path).length,
    });
    expect(repairJournal(path)).toBeUndefined();
    expect(existsSync(copy)).toBe(true);
  });
});
