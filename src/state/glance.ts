import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import type { LoopEvent } from "../events.js";
import { lineStart, parseLine, readRange } from "./read-journal.js";

/** More than the first and the last event of a run are long. */
const MAX_BYTES = 16 * 1024;

/** The first and the last event of a journal, however long it is; undefined where they cannot be read. */
export function glanceAt(path: string): { first: LoopEvent | undefined; last: LoopEvent | undefined } {
  // A pipe would be waited for.
  if (!statSync(path).isFile()) return { first: undefined, last: undefined };
  const file = openSync(path, "r");
  try {
    const end = lineStart(file, fstatSync(file).size);
    return { first: eventAt(file, 0), last: eventAt(file, lineStart(file, end - 1)) };
  } finally {
    closeSync(file);
  }
}

function eventAt(file: number, start: number): LoopEvent | undefined {
  const [line = ""] = readRange(file, start, MAX_BYTES).toString("utf8").split("\n", 1);
  return parseLine(line);
}
