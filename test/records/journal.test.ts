import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { openJournal, repairJournal } from "../../src/records/journal.js";
import { readJournal } from "../../src/records/read.js";
import { eventually, temporaryFolder } from "../kit.js";
import * as samples from "./samples.js";
import { at, carried, fold, linesOf as lines, RUN } from "./samples.js";

const started = at(0, samples.started);
const said = (seconds: number, text: string): LoopEvent => at(seconds, samples.said({ type: "text", text }));
const finished = (seconds: number, iteration: number): LoopEvent =>
  at(seconds, samples.iterationFinished({ iteration }));
const agentStarted = (seconds: number): LoopEvent => at(seconds, { ...samples.agentStarted, iteration: 2 });

function journalOf(content: string): string {
  const path = join(temporaryFolder(), "journal.ndjson");
  writeFileSync(path, content);
  return path;
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
