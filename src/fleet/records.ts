import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { makePrivateFolder, readJson, writeAtomic } from "../records/files.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import type { FilePiece, Store, StoredFile } from "./store.js";

const JOURNAL = "journal.ndjson";
/** So much goes together: of a journal, or of other files. */
const TOGETHER_BYTES = 1024 * 1024;
/** So much of the end of any other file is kept, and so much of all of them. */
const FILE_BYTES = 4 * 1024 * 1024;
const RUN_BYTES = 64 * 1024 * 1024;
const RETRY_MS = 500;
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
  let turn = Promise.resolve();
  const append = async (pieces: FilePiece[]): Promise<void> => {
    while (!isOver) {
      const lengths = await store.append(folder.id, epoch, pieces).catch(() => undefined);
      if (lengths === undefined) {
        await sleep(RETRY_MS);
        continue;
      }
      if (lengths !== "fenced") {
        // A piece whose answer was lost is there already.
        sent = lengths[pieces.findIndex(({ file }) => file === JOURNAL)] ?? sent;
        return;
      }
      isOver = true;
      fenced();
    }
  };
  /** What is to be kept of a file that has changed. */
  const changeOf = (name: string): Buffer | undefined => {
    const path = join(folder.path, name);
    const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const stamp = `${size} ${mtimeMs}`;
    if (size === undefined || stamps.get(name) === stamp) return undefined;
    stamps.set(name, stamp);
    const content = kept + Math.min(size, FILE_BYTES) > RUN_BYTES ? tooMuch(size) : endOf(path, size);
    kept += content.length;
    return content;
  };
  const newLines = (): Buffer | undefined => {
    if (holders.size > 0 || !existsSync(folder.journal)) return undefined;
    const lines = wholeLines(folder.journal, sent);
    return lines.length > 0 ? lines : undefined;
  };
  const send = async (names: string[]): Promise<void> => {
    while (!isOver) {
      const pieces: FilePiece[] = [];
      let bytes = 0;
      const add = async (file: string, at: number, content: Buffer | undefined): Promise<void> => {
        if (content === undefined) return;
        bytes += content.length;
        pieces.push({ file, at, bytes: content.length, data: await promisify(gzip)(content) });
      };
      while (names.length > 0 && bytes < TOGETHER_BYTES) {
        const name = names.shift() as string;
        await add(name, 0, changeOf(name));
      }
      if (names.length === 0) await add(JOURNAL, sent, newLines());
      if (pieces.length === 0) return;
      await append(pieces);
    }
  };
  const inTurn = (names: () => string[]): Promise<void> => {
    turn = turn.then(() => send(names()));
    return turn;
  };
  return {
    /** Nothing more of the journal goes until `release`: what it tells is not safe yet. */
    hold(who: string): void {
      holders.add(who);
    },
    release(who: string): void {
      holders.delete(who);
    },
    journal: () => inTurn(() => []),
    /** The journal with all files that it speaks of. */
    all: () => inTurn(() => recordsIn(folder.path)),
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
  return names.filter((name) => name !== JOURNAL);
}

function wholeLines(path: string, from: number): Buffer {
  const bytes = readBytes(path, from, TOGETHER_BYTES);
  const end = bytes.lastIndexOf(LF) + 1;
  if (end > 0 || bytes.length < TOGETHER_BYTES) return bytes.subarray(0, end);
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

const STAMPS = ".stamps.json";

/**
 * Brings the records of a run from the store into a home, what is new of them, so that everything reads them as
 * those of a local run. `names`: which of them; all unless it says.
 */
export async function downloadRun(
  store: Store,
  home: string,
  id: string,
  isWanted: (file: string) => boolean = () => true,
): Promise<RunFolder> {
  const folder = runFolder(home, id);
  makePrivateFolder(home);
  makePrivateFolder(folder.path);
  const known = (readJson(join(folder.path, STAMPS)) ?? {}) as Record<string, string>;
  const files = (await store.files(id)).filter(({ file }) => isWanted(file) && isInside(folder.path, file));
  const changed = files.filter(({ file, stamp }) => known[file] !== stamp);
  // What the journal speaks of comes first.
  for (const one of changed.toSorted((a, b) => Number(a.file === JOURNAL) - Number(b.file === JOURNAL)))
    await (one.file === JOURNAL ? extend(store, folder) : replace(store, folder, one));
  if (changed.length > 0)
    writeAtomic(
      join(folder.path, STAMPS),
      JSON.stringify({ ...known, ...Object.fromEntries(changed.map(({ file, stamp }) => [file, stamp])) }),
    );
  return folder;
}

/** Names come from the engine: they lead nowhere else. */
function isInside(folder: string, file: string): boolean {
  return resolve(folder, file).startsWith(`${folder}/`);
}

async function extend(store: Store, { id, journal }: RunFolder): Promise<void> {
  const from = existsSync(journal) ? statSync(journal).size : 0;
  for (const { at, data } of await store.read(id, JOURNAL, from)) {
    const there = existsSync(journal) ? statSync(journal).size : 0;
    if (at === there) appendFileSync(journal, await promisify(gunzip)(data), { mode: 0o600 });
  }
}

async function replace(store: Store, { id, path }: RunFolder, { file }: StoredFile): Promise<void> {
  const pieces = await store.read(id, file, 0);
  const parts = await Promise.all(pieces.map(({ data }) => promisify(gunzip)(data)));
  const target = join(path, file);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  writeFileSync(target, Buffer.concat(parts), { mode: 0o600 });
}
