import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { RunFolder } from "../records/runs.js";
import type { Store } from "./store.js";

/** So much of a journal goes in one piece. */
const PIECE_BYTES = 1024 * 1024;
/** So much of the end of any other file is kept, and so much of all of them. */
const FILE_BYTES = 4 * 1024 * 1024;
const RUN_BYTES = 64 * 1024 * 1024;
const RETRY_MS = 500;
/** So many files are on their way together. */
const AT_ONCE = 4;
const LF = 0x0a;

/** What belongs to this machine: how git stood here, what is held for a moment, and who waits. */
const OWN = /^(git-|paused$|ralph-index-)|\.(lock|tmp)$|\.corrupt-/;

export type Upload = ReturnType<typeof uploadOf>;

/**
 * Brings the records of a run to the store as they are written: the journal as it grows, other files when they are
 * asked for. Where the engine is away it waits for it. `stored`: so much of the journal is there already. `fenced` is
 * called when somebody else writes these records now.
 */
export function uploadOf(store: Store, folder: RunFolder, epoch: number, stored: number, fenced: () => void) {
  let sent = stored;
  let kept = 0;
  /** What the journal must not tell yet: those who hold it. */
  const holders = new Set<string>();
  let isOver = false;
  const stamps = new Map<string, string>();
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const next = turn.then(work);
    turn = next;
    return next;
  };
  /** The length of the file then; undefined: this upload is over. */
  const append = async (file: string, at: number, content: Buffer): Promise<number | undefined> => {
    const data = await promisify(gzip)(content);
    while (!isOver) {
      try {
        const length = await store.append(folder.id, epoch, { file, at, bytes: content.length, data });
        if (length !== "fenced") return length;
        isOver = true;
        fenced();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return undefined;
  };
  const sendJournal = async (): Promise<void> => {
    while (!isOver && holders.size === 0 && existsSync(folder.journal)) {
      const lines = wholeLines(folder.journal, sent);
      if (lines.length === 0) return;
      // A piece whose answer was lost is there already.
      sent = (await append("journal.ndjson", sent, lines)) ?? sent;
    }
  };
  const sendFile = async (name: string): Promise<void> => {
    const path = join(folder.path, name);
    const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const stamp = `${size} ${mtimeMs}`;
    if (size === undefined || stamps.get(name) === stamp) return;
    stamps.set(name, stamp);
    const content = kept + Math.min(size, FILE_BYTES) > RUN_BYTES ? tooMuch(size) : endOf(path, size);
    kept += content.length;
    await append(name, 0, content);
  };
  return {
    /** Nothing more of the journal goes until `release`: what it tells is not safe yet. */
    hold(who: string): void {
      holders.add(who);
    },
    release(who: string): void {
      holders.delete(who);
    },
    journal: () => inTurn(sendJournal),
    files: () =>
      inTurn(async () => {
        const names = recordsIn(folder.path).values();
        const sendNext = async (): Promise<void> => {
          for (const name of names) await sendFile(name);
        };
        await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
      }),
    end(): void {
      isOver = true;
    },
  };
}

/** All files of a run's folder but the journal. */
function recordsIn(path: string): string[] {
  const all = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile() && !OWN.test(entry.name));
  const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1));
  return names.filter((name) => name !== "journal.ndjson");
}

function wholeLines(path: string, from: number): Buffer {
  const bytes = readBytes(path, from, PIECE_BYTES);
  const end = bytes.lastIndexOf(LF) + 1;
  if (end > 0 || bytes.length < PIECE_BYTES) return bytes.subarray(0, end);
  // One line that is longer than a piece.
  const all = readBytes(path, from, Number.POSITIVE_INFINITY);
  return all.subarray(0, all.indexOf(LF) + 1);
}

function readBytes(path: string, from: number, most: number): Buffer {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(Math.max(0, Math.min(most, fstatSync(file).size - from)));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
  } finally {
    closeSync(file);
  }
}

function endOf(path: string, size: number): Buffer {
  if (size <= FILE_BYTES) return readBytes(path, 0, size);
  const dropped = Buffer.from(`[ralph: the first ${size - FILE_BYTES} bytes were left out]\n`);
  return Buffer.concat([dropped, readBytes(path, size - FILE_BYTES, FILE_BYTES)]);
}

function tooMuch(size: number): Buffer {
  return Buffer.from(
    `[ralph: ${size} bytes were left out: the records of this run have reached ${RUN_BYTES} bytes]\n`,
  );
}
