import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { repairJournal } from "../../src/records/journal.js";
import { parseLine, readJournal } from "../../src/records/read.js";
import { temporaryFolder } from "../kit.js";
import {
  agentFinished,
  agentStarted,
  at,
  carried,
  fold,
  iterationFinished,
  linesOf,
  RUN,
  resumed,
  said,
  started,
} from "./samples.js";

/** Of a run with several iterations, in which the agent says things that no journal should trip over. */
const JOURNAL: LoopEvent[] = [
  at(0, started),
  ...[1, 2, 3].flatMap((iteration): LoopEvent[] => [
    at(iteration, { type: "iteration.started", iteration }),
    at(iteration, { ...agentStarted, iteration }),
    at(iteration, said({ type: "text", text: '€😀\u2028"}\n{"v":1' }, iteration)),
    at(iteration, said({ type: "result", text: "done", costUsd: 1 }, iteration)),
    at(iteration, agentFinished({ iteration, costUsd: 1 })),
    at(iteration, iterationFinished({ iteration })),
    at(iteration, { type: "run.paused", iterations: iteration, activeMs: 0 }),
    at(iteration + 60, { ...resumed, iterations: iteration }),
    at(iteration + 61, { type: "iteration.started", iteration: iteration + 1 }),
    at(iteration + 62, { ...resumed, iterations: iteration, agent: "codex" }),
  ]),
];
const BYTES = Buffer.from(linesOf(JOURNAL));

const wholeLines = (bytes: Buffer): number => bytes.toString("latin1").split("\n").length - 1;

test("any beginning of a journal is read as what had happened until its last whole line", () => {
  const path = join(temporaryFolder(), "journal.ndjson");
  for (let end = 0; end <= BYTES.length; end += 17) {
    const bytes = BYTES.subarray(0, end);
    writeFileSync(path, bytes);
    const { state, unreadable } = readJournal(path, RUN);
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
      readJournal(path, RUN);
      const copy = repairJournal(path);
      for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1))
        expect(parseLine(line)).toBeDefined();
      if (copy !== undefined)
        expect(damaged.subarray(0, readFileSync(copy).length)).toEqual(readFileSync(copy));
    }),
    { numRuns: 60 },
  );
});
