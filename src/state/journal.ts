import {
  closeSync,
  copyFileSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
} from "node:fs";
import { promisify } from "node:util";
import { describeSystemError, RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { writeAtomic, writeFully } from "./files.js";
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

/** One writer: the loop that holds the workspace's lock. */
export function openJournal(path: string): Journal {
  const file = openSync(path, "a", 0o600);
  let buffered = "";
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (buffered === "") return;
    const data = Buffer.from(buffered);
    buffered = "";
    try {
      writeFully(file, data);
    } catch (error) {
      throw new RalphError(`cannot write the journal ${path}: ${describeSystemError(error)}`, {
        code: "journal_unwritable",
        exitCode: 1,
        hint: "make room, then continue with: ralph resume",
        cause: error,
      });
    }
  };

  return {
    append(type, line) {
      buffered += `${line}\n`;
      if (type !== "agent.event" || buffered.length > BUFFER_CHARS) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    async sync() {
      flush();
      await syncData(file);
    },
    close() {
      flush();
      closeSync(file);
    },
  };
}

/**
 * Makes a journal fit to be continued: a torn last line is cut off, and a file with unreadable lines is kept
 * beside it, whole. Returns the name of that copy, if one was made.
 */
export function repairJournal(path: string, run: string): string | undefined {
  cutTornLine(path);
  if (readJournal(path, run).unreadable === 0) return undefined;
  const copy = `${path}.corrupt-${Date.now()}`;
  copyFileSync(path, copy);
  const lines = readFileSync(path, "utf8").split("\n");
  writeAtomic(path, lines.filter((line) => line === "" || parseLine(line) !== undefined).join("\n"));
  return copy;
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

function linesIn(content: Buffer): string[] {
  const lines = content.toString("utf8").split("\n").filter(Boolean);
  return lines.filter((line, index) => matters(line) || index === lines.length - 1);
}

/** Most lines are what agents said; of those only spending counts for the state, and the last for its time. */
function matters(line: string): boolean {
  return (
    !line.startsWith('{"v":1,"type":"agent.event"') || line.includes('"usage"') || line.includes('"costUsd"')
  );
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
