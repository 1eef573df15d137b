import {
  closeSync,
  copyFileSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
} from "node:fs";
import { promisify } from "node:util";
import { describeSystemError, RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { createLineSplitter } from "../process/lines.js";
import { openFresh, writeFully } from "./files.js";
import { advance, initialState, type RunState } from "./run-state.js";

export interface Journal {
  /** Written when this returns, as one line; what an agent says may wait a moment, decisions do not. */
  append(type: LoopEvent["type"], line: string): void;
  /** Resolves when everything so far would survive a power cut. */
  sync(): Promise<void>;
  close(): void;
}

const BUFFER_CHARS = 64 * 1024;
const FLUSH_MS = 100;
const LF = 0x0a;

const syncData = promisify(fdatasync);

/** One writer: the loop that holds the workspace's lock. Once it could not write, every call says so. */
export function openJournal(path: string): Journal {
  const file = openSync(path, "a", 0o600);
  let buffered = "";
  let timer: NodeJS.Timeout | undefined;
  let failure: RalphError | undefined;

  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const data = Buffer.from(buffered);
    buffered = "";
    if (failure !== undefined) return;
    try {
      writeFully(file, data);
    } catch (error) {
      failure = unwritable(path, error);
    }
  };
  const flush = (): void => {
    write();
    if (failure !== undefined) throw failure;
  };

  return {
    append(type, line) {
      buffered += `${line}\n`;
      if (type !== "agent.event" || buffered.length > BUFFER_CHARS) flush();
      else timer ??= setTimeout(write, FLUSH_MS).unref();
    },
    async sync() {
      flush();
      await syncData(file);
    },
    close() {
      write();
      closeSync(file);
    },
  };
}

function unwritable(path: string, cause: unknown): RalphError {
  return new RalphError(`cannot write the journal ${path}: ${describeSystemError(cause)}`, {
    code: "journal_unwritable",
    exitCode: 1,
    hint: "make room, then continue with: ralph resume",
    cause,
  });
}

/**
 * Makes a journal fit to be continued: a torn last line is cut off, and a file with unreadable lines is kept
 * beside it, whole. Returns the name of that copy, if one was made.
 */
export function repairJournal(path: string): string | undefined {
  cutTornLine(path);
  if (!hasUnreadableLine(path)) return undefined;
  const copy = `${path}.corrupt-${Date.now()}`;
  copyFileSync(path, copy);
  const repaired = `${path}.repaired`;
  const file = openFresh(repaired);
  for (const line of linesOf(copy)) if (isReadable(line)) writeFully(file, Buffer.from(`${line}\n`));
  closeSync(file);
  renameSync(repaired, path);
  return copy;
}

function hasUnreadableLine(path: string): boolean {
  for (const line of linesOf(path)) if (!isReadable(line)) return true;
  return false;
}

function isReadable(line: string): boolean {
  return parseLine(line) !== undefined;
}

/** Line by line: journals of long runs do not fit into memory. */
function* linesOf(path: string): Generator<string> {
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

function cutTornLine(path: string): void {
  const file = openSync(path, "r+");
  try {
    const size = fstatSync(file).size;
    const end = lineStart(file, size);
    if (end < size) ftruncateSync(file, end);
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
 * The state of a run from its journal. Every finished iteration carries the totals, so that only the first
 * line and what came after the last finished iteration are read, however long the journal is.
 */
export function readJournal(path: string, run: string): JournalReading {
  const file = openSync(path, "r");
  try {
    // A last line without LF is torn, or still being written.
    const size = lineStart(file, fstatSync(file).size);
    const from = lastIterationStart(file, size);
    const head = from === 0 ? [] : linesIn(readRange(file, 0, HEAD_BYTES));
    const tail = linesIn(readRange(file, from, size - from));
    return foldLines([...head.slice(0, 1), ...tail], run);
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

const HEAD_BYTES = 16 * 1024;
const BLOCK_BYTES = 256 * 1024;
const CHECKPOINT = Buffer.from('"type":"iteration.finished"');

/** Offset of the last `iteration.finished` line, or 0. */
function lastIterationStart(file: number, size: number): number {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    // Blocks overlap, so that a mark on a border is seen whole.
    const block = readRange(file, start, Math.min(size, end + CHECKPOINT.length) - start);
    const found = block.lastIndexOf(CHECKPOINT);
    if (found !== -1) return lineStart(file, start + found);
    end = start;
  }
  return 0;
}

function lineStart(file: number, position: number): number {
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
const SPENDING = [Buffer.from('"usage"'), Buffer.from('"costUsd"')];

/**
 * The lines that count for the state. Most are what agents said: of those only spending counts, and the last
 * one for its time. The others are passed over without being decoded.
 */
function linesIn(content: Buffer): string[] {
  const spending = SPENDING.map((mark) => searcher(content, mark));
  const lines: string[] = [];
  for (let start = 0, end = 0; start < content.length; start = end + 1) {
    end = content.indexOf(LF, start);
    if (end === -1) end = content.length;
    const isTalk = content.subarray(start, start + AGENT_EVENT.length).equals(AGENT_EVENT);
    const isLast = end >= content.length - 1;
    const counts = !isTalk || isLast || spending.some((found) => found(start, end));
    if (counts && end > start) lines.push(content.toString("utf8", start, end));
  }
  return lines;
}

/** Tells whether a range holds the mark; ranges are asked for from left to right. */
function searcher(content: Buffer, mark: Buffer): (start: number, end: number) => boolean {
  let at = content.indexOf(mark);
  return (start, end) => {
    if (at !== -1 && at < start) at = content.indexOf(mark, start);
    return at !== -1 && at < end;
  };
}

function parseLine(line: string): LoopEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The journal is ralph's own file: its envelope tells a whole line from a damaged one. */
function isEvent(value: unknown): value is LoopEvent {
  return typeof value === "object" && value !== null && "type" in value && "ts" in value && "v" in value;
}
