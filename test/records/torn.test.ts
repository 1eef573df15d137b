import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { repairJournal } from "../../src/records/journal.js";
import { parseLine, readJournal } from "../../src/records/read.js";
import { advance, initialState } from "../../src/records/run-state.js";
import { LIMITS, temporaryFolder } from "../kit.js";
import { carried } from "./carried.js";

const at = (second: number) => ({ v: 1 as const, ts: new Date(second * 1000).toISOString(), run: "r" });
const totals = { costUsd: 1, inputTokens: 2, outputTokens: 3, activeMs: 4, consecutiveFailures: 0, alike: 0 };

/** Of a run with several iterations, in which the agent says things that no journal should trip over. */
const JOURNAL: LoopEvent[] = [
  {
    ...at(0),
    type: "run.started",
    recipe: "prompt",
    agent: "claude",
    credentials: null,
    workspace: "/w",
    limits: LIMITS,
  },
  ...[1, 2, 3].flatMap((iteration): LoopEvent[] => [
    { ...at(iteration), type: "iteration.started", iteration },
    {
      ...at(iteration),
      type: "agent.started",
      iteration,
      agent: "claude",
      command: [],
      attempt: 1,
      prompt: "",
    },
    {
      ...at(iteration),
      type: "agent.event",
      iteration,
      event: { type: "text", text: '€😀\u2028"}\n{"v":1' },
    },
    { ...at(iteration), type: "agent.event", iteration, event: { type: "result", text: "done", costUsd: 1 } },
    {
      ...at(iteration),
      type: "agent.finished",
      iteration,
      exitCode: 0,
      signal: null,
      durationMs: 5,
      costUsd: 1,
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      steps: 0,
      error: null,
      empty: false,
      stopped: null,
      finalMessage: "done",
      log: "",
    },
    {
      ...at(iteration),
      type: "iteration.finished",
      iteration,
      passed: false,
      reason: "no",
      claimedDone: false,
      durationMs: 5,
      totals,
    },
    { ...at(iteration), type: "run.paused", iterations: iteration, activeMs: 0 },
    { ...at(iteration + 60), type: "run.resumed", iterations: iteration, activeMs: 0, agent: "claude" },
    { ...at(iteration + 61), type: "iteration.started", iteration: iteration + 1 },
    { ...at(iteration + 62), type: "run.resumed", iterations: iteration, activeMs: 0, agent: "codex" },
  ]),
];
const BYTES = Buffer.from(JOURNAL.map((event) => `${JSON.stringify(event)}\n`).join(""));

const fold = (events: LoopEvent[]) => events.reduce(advance, initialState("r"));
const wholeLines = (bytes: Buffer): number => bytes.toString("latin1").split("\n").length - 1;

test("any beginning of a journal is read as what had happened until its last whole line", () => {
  const path = join(temporaryFolder(), "journal.ndjson");
  for (let end = 0; end <= BYTES.length; end += 17) {
    const bytes = BYTES.subarray(0, end);
    writeFileSync(path, bytes);
    const { state, unreadable } = readJournal(path, "r");
    expect(unreadable).toBe(0);
    const expected = fold(JOURNAL.slice(0, wholeLines(bytes)));
    expect(carried({ ...state, atWork: undefined })).toEqual(carried({ ...expected, atWork: undefined }));
  }
});

test("a torn journal is repaired, and what is written next stands on a line of its own", () => {
  const path = join(temporaryFolder(), "journal.ndjson");
  fc.assert(
    fc.property(fc.nat(BYTES.length), (end) => {
      writeFileSync(path, BYTES.subarray(0, end));
      expect(repairJournal(path)).toBeUndefined();
      appendFileSync(path, `${JSON.stringify(JOURNAL[1])}\n`);
      const lines = readFileSync(path, "utf8").trimEnd().split("\n");
      expect(lines.map(parseLine)).toEqual([
        ...JOURNAL.slice(0, wholeLines(BYTES.subarray(0, end))),
        JOURNAL[1],
      ]);
    }),
    { numRuns: 60 },
  );
});

test("any bytes in the middle of a journal are passed over, counted, and kept in a copy", () => {
  fc.assert(
    fc.property(fc.nat(BYTES.length), fc.uint8Array({ minLength: 1, maxLength: 30 }), (at, bytes) => {
      const folder = temporaryFolder();
      const path = join(folder, "journal.ndjson");
      const damaged = Buffer.concat([BYTES.subarray(0, at), bytes, BYTES.subarray(at)]);
      writeFileSync(path, damaged);
      readJournal(path, "r");
      const copy = repairJournal(path);
      for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1))
        expect(parseLine(line)).toBeDefined();
      if (copy !== undefined)
        expect(damaged.subarray(0, readFileSync(copy).length)).toEqual(readFileSync(copy));
    }),
    { numRuns: 60 },
  );
});
