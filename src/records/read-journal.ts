import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { LoopEvent } from "../events.js";
import { refuseSpecialFile } from "../plain-file.js";
import { advance, initialState, type RunState } from "./run-state.js";
import { isEvent } from "./shape.js";

const LF = 0x0a;

export interface JournalReading {
  state: RunState;
  /** Lines that could not be read and were passed over. */
  unreadable: number;
}

/**
 * The state of a run from its journal. Every finished iteration carries the totals, so that only the first
 * line and what came after the last finished iteration are read, however long the journal is.
 */
export function readJournal(path: string, run: string): JournalReading {
  refuseSpecialFile(path);
  const file = openSync(path, "r");
  try {
    // A last line without LF is torn, or still being written.
    const size = lineStart(file, fstatSync(file).size);
    const from = lastIterationStart(file, size);
    const head = from === 0 ? [] : [lineAt(file, 0, size)];
    return foldLines([...head, ...linesIn(readRange(file, from, size - from))], run);
  } finally {
    closeSync(file);
  }
}

function foldLines(lines: string[], run: string): JournalReading {
  const state = initialState(run);
  let unreadable = 0;
  for (const line of lines) {
    const event = parseLine(line);
    if (event === undefined) unreadable += 1;
    else advance(state, event);
  }
  return { state, unreadable };
}

const BLOCK_BYTES = 256 * 1024;
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
    if (isReadable(lineAt(file, line, size))) return line;
    end = start + found;
  }
  return 0;
}

export function lineAt(file: number, start: number, size: number): string {
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
 * The lines that count for the state. Most are what agents said: of those only spending counts, and the last
 * one before an end for its time. The others are passed over without being decoded.
 */
function linesIn(content: Buffer): string[] {
  const spending = SPENDING.map((mark) => searcher(content, mark));
  const lines: string[] = [];
  for (let start = 0, end = 0; start < content.length; start = end + 1) {
    end = content.indexOf(LF, start);
    if (end === -1) end = content.length;
    const counts =
      !startsWith(content, start, AGENT_EVENT) ||
      end >= content.length - 1 ||
      startsWith(content, end + 1, RESUMED) ||
      spending.some((found) => found(start, end));
    if (counts && end > start) lines.push(content.toString("utf8", start, end));
  }
  return lines;
}

function startsWith(content: Buffer, at: number, prefix: Buffer): boolean {
  return content.subarray(at, at + prefix.length).equals(prefix);
}

/** Tells whether a range holds the mark; ranges are asked for from left to right. */
function searcher(content: Buffer, mark: Buffer): (start: number, end: number) => boolean {
  let at = content.indexOf(mark);
  return (start, end) => {
    if (at !== -1 && at < start) at = content.indexOf(mark, start);
    return at !== -1 && at < end;
  };
}

/** A line that is no event is damaged. */
export function isReadable(line: string): boolean {
  return parseLine(line) !== undefined;
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
