import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { LoopEvent } from "../events.js";
import { refuseSpecialFile } from "../plain-file.js";
import { advance, initialState, type RunState } from "./run-state.js";
import { isEvent } from "./shape.js";

const LF = 0x0a;
const BLOCK_BYTES = 256 * 1024;

/**
 * The whole lines of a file from the beginning of one of them on, each with where the next one begins. A last line
 * without LF is torn, or still being written. Line by line: journals of long runs do not fit into memory.
 */
export function* linesOf(path: string, from = 0): Generator<{ text: string; next: number }> {
  const { file } = openPlain(path);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (let at = from; ; ) {
      const block = readRange(file, at + rest.length, Math.max(BLOCK_BYTES, rest.length));
      if (block.length === 0) return;
      const data = rest.length === 0 ? block : Buffer.concat([rest, block]);
      let start = 0;
      for (let end = data.indexOf(LF); end !== -1; end = data.indexOf(LF, start)) {
        yield { text: data.toString("utf8", start, end), next: at + end + 1 };
        start = end + 1;
      }
      at += start;
      rest = data.subarray(start);
    }
  } finally {
    closeSync(file);
  }
}

/** Every event of a journal. Damaged lines are counted and passed over. */
export function* readEvents(path: string, onUnreadable: () => void): Generator<LoopEvent> {
  for (const { text } of linesOf(path)) {
    const event = parseLine(text);
    if (event === undefined) onUnreadable();
    else yield event;
  }
}

/** undefined: the line is damaged. */
export function parseLine(line: string): LoopEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The last event of a journal, however long it is; undefined where there is none, or none that can be read. */
export function lastEvent(path: string): LoopEvent | undefined {
  const { file, size } = openPlain(path);
  try {
    const end = lineStart(file, size);
    const start = end === 0 ? 0 : lineStart(file, end - 1);
    return parseLine(readRange(file, start, end - start).toString("utf8"));
  } finally {
    closeSync(file);
  }
}

export interface JournalReading {
  state: RunState;
  /** Lines that could not be read and were passed over. */
  unreadable: number;
}

/**
 * The state of a run from its journal. Every finished iteration carries the totals, so that only the first line and
 * what came after the last finished iteration are read, however long the journal is.
 */
export function readJournal(path: string, run: string): JournalReading {
  const { file, size: length } = openPlain(path);
  try {
    const size = lineStart(file, length);
    const from = lastIterationStart(file, size);
    const head = from === 0 ? [] : [lineAt(file, 0, size)];
    const state = initialState(run);
    let unreadable = 0;
    for (const line of [...head, ...linesThatCount(readRange(file, from, size - from))]) {
      const event = parseLine(line);
      if (event === undefined) unreadable += 1;
      else advance(state, event);
    }
    return { state, unreadable };
  } finally {
    closeSync(file);
  }
}

function openPlain(path: string): { file: number; size: number } {
  refuseSpecialFile(path);
  const file = openSync(path, "r");
  return { file, size: fstatSync(file).size };
}

const CHECKPOINT = Buffer.from('"type":"iteration.finished"');

/** Offset of the last readable `iteration.finished` line, or 0. */
function lastIterationStart(file: number, size: number): number {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    // Blocks overlap, so that a mark on a border is seen whole.
    const block = readRange(file, start, Math.min(size, end + CHECKPOINT.length) - start);
    const found = block.subarray(0, end - start + CHECKPOINT.length - 1).lastIndexOf(CHECKPOINT);
    if (found === -1) {
      end = start;
      continue;
    }
    const line = lineStart(file, start + found);
    if (parseLine(lineAt(file, line, size)) !== undefined) return line;
    end = start + found;
  }
  return 0;
}

function lineAt(file: number, start: number, size: number): string {
  for (let length = BLOCK_BYTES; ; length *= 2) {
    const block = readRange(file, start, Math.min(length, size - start));
    const end = block.indexOf(LF);
    if (end !== -1 || start + length >= size)
      return block.toString("utf8", 0, end === -1 ? block.length : end);
  }
}

/** Where the line begins that a position stands in. */
export function lineStart(file: number, position: number): number {
  for (let end = position; end > 0; ) {
    const start = Math.max(0, end - 4096);
    const found = readRange(file, start, end - start).lastIndexOf(LF);
    if (found !== -1) return start + found + 1;
    end = start;
  }
  return 0;
}

function readRange(file: number, start: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(file, buffer, filled, length - filled, start + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

const AGENT_EVENT = Buffer.from('{"v":1,"type":"agent.event"');
const RESUMED = Buffer.from('{"v":1,"type":"run.resumed"');
const SPENDING = [Buffer.from('"usage"'), Buffer.from('"costUsd"')];

/**
 * The lines that count for the state. Most are what agents said: of those only spending counts, and the last one
 * before an end for its time. The others are passed over without being decoded.
 */
function* linesThatCount(content: Buffer): Generator<string> {
  const startsWith = (at: number, prefix: Buffer): boolean =>
    content.subarray(at, at + prefix.length).equals(prefix);
  const marks = SPENDING.map((mark) => ({ mark, at: content.indexOf(mark) }));
  for (let start = 0, end = 0; start < content.length; start = end + 1) {
    end = content.indexOf(LF, start);
    if (end === -1) end = content.length;
    for (const known of marks)
      if (known.at !== -1 && known.at < start) known.at = content.indexOf(known.mark, start);
    const counts =
      !startsWith(start, AGENT_EVENT) ||
      end >= content.length - 1 ||
      startsWith(end + 1, RESUMED) ||
      marks.some(({ at }) => at !== -1 && at < end);
    if (counts && end > start) yield content.toString("utf8", start, end);
  }
}
