import {
  closeSync,
  copyFileSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  statSync,
} from "node:fs";
import { promisify } from "node:util";
import { describeSystemError, RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { openFresh, writeFully } from "./files.js";
import { lineStart, linesOf, parseLine } from "./read.js";

export interface Journal {
  /** Written when this returns, as one line; what an agent says may wait a moment, decisions do not. */
  append(type: LoopEvent["type"], line: string): void;
  /** Throws when the file is not there any more: what is written to it is lost. */
  check(): void;
  /** Resolves when everything so far would survive a power cut. */
  sync(): Promise<void>;
  close(): void;
}

const BUFFER_CHARS = 64 * 1024;
const FLUSH_MS = 100;

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
      failure = new RalphError(`cannot write the journal ${path}: ${describeSystemError(error)}`, {
        code: "journal_unwritable",
        exitCode: 1,
        hint: "make room, then continue with: ralph resume",
        cause: error,
      });
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
    check() {
      const [own, there] = [fstatSync(file), statSync(path, { throwIfNoEntry: false })];
      if (there?.ino === own.ino && there.dev === own.dev) return;
      throw new RalphError(`the records of the run are gone: ${path} was deleted or moved`, {
        code: "records_gone",
        isFinal: true,
        exitCode: 1,
        hint: "its work is still in the workspace",
      });
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
  const file = openFresh(repaired, 0o600);
  for (const { text } of linesOf(copy))
    if (parseLine(text) !== undefined) writeFully(file, Buffer.from(`${text}\n`));
  closeSync(file);
  renameSync(repaired, path);
  return copy;
}

function hasUnreadableLine(path: string): boolean {
  for (const { text } of linesOf(path)) if (parseLine(text) === undefined) return true;
  return false;
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
