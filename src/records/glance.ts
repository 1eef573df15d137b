import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { systemErrorCode } from "../errors.js";
import type { LoopEvent, RunFinished } from "../events.js";
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

const LF = 0x0a;
const FINISHED = '"type":"run.finished"';
const tail = Buffer.allocUnsafeSlow(128 * 1024);

/** How a run ended that has come to its end: one look at the end of its journal. undefined: there is more to read. */
export function endingOf(path: string): (LoopEvent & RunFinished) | undefined {
  const line = lastLine(path);
  if (line === undefined || !line.includes(FINISHED)) return undefined;
  const event = parseLine(line.toString("utf8"));
  return event?.type === "run.finished" ? event : undefined;
}

function lastLine(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    // A pipe is not waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) return undefined;
    const length = readSync(file, tail, 0, tail.length, Math.max(0, stat.size - tail.length));
    if (tail[length - 1] !== LF) return undefined;
    const before = length < 2 ? -1 : tail.lastIndexOf(LF, length - 2);
    return before === -1 ? undefined : tail.subarray(before + 1, length - 1);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
