import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import type { LoopEvent } from "../events.js";
import { lineAt, lineStart, parseLine } from "./read-journal.js";

/** The first and the last event of a journal, however long it is; undefined where they cannot be read. */
export function glanceAt(path: string): { first: LoopEvent | undefined; last: LoopEvent | undefined } {
  // A pipe would be waited for.
  if (!statSync(path).isFile()) return { first: undefined, last: undefined };
  const file = openSync(path, "r");
  try {
    const end = lineStart(file, fstatSync(file).size);
    const eventAt = (start: number): LoopEvent | undefined => parseLine(lineAt(file, start, end));
    return { first: eventAt(0), last: eventAt(lineStart(file, end - 1)) };
  } finally {
    closeSync(file);
  }
}
