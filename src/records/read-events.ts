import { closeSync, openSync, readSync } from "node:fs";
import type { LoopEvent } from "../events.js";
import { createLineSplitter } from "../process/lines.js";
import { parseLine } from "./read-journal.js";

const BLOCK_BYTES = 256 * 1024;

/** Every event of a journal, from the first to the last. Damaged lines are counted and passed over. */
export function* readEvents(path: string, onUnreadable: () => void): Generator<LoopEvent> {
  for (const line of linesOf(path)) {
    const event = parseLine(line);
    if (event === undefined) onUnreadable();
    else yield event;
  }
}

/** Line by line: journals of long runs do not fit into memory. A last line without LF is torn. */
export function* linesOf(path: string): Generator<string> {
  const file = openSync(path, "r");
  const lines = createLineSplitter(Number.POSITIVE_INFINITY);
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  try {
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
      yield* lines.push(Buffer.from(buffer.subarray(0, read)));
    }
  } finally {
    closeSync(file);
  }
}
