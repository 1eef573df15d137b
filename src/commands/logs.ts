import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { invalid } from "../settings/limits.js";
import { harmless } from "../views/harmless.js";
import { standingOf } from "../workers/status.js";
import { workerNamed } from "./find-worker.js";
import { printAll } from "./output.js";

export interface LogsFlags {
  follow?: boolean;
  lines?: string;
  events?: boolean;
}

const DEFAULT_LINES = 100;
const POLL_MS = 200;
const PIECE_BYTES = 64 * 1024;

/** `ralph logs NAME`: what was shown in its window, or what happened to its iterations. */
export async function logs(name: string, flags: LogsFlags): Promise<number> {
  const { home, folder } = workerNamed(name);
  const path = flags.events ? folder.iterations : folder.output;
  const count = linesFrom(flags);
  if (!existsSync(path) && !flags.follow) {
    throw new RalphError(`worker '${name}' has written nothing yet`, { code: "log_missing", exitCode: 1 });
  }
  let offset = await printTail(path, count);
  while (flags.follow) {
    const { loop } = standingOf(folder, home);
    offset = await printFrom(path, offset);
    if (loop === undefined) break;
    await sleep(POLL_MS);
  }
  return 0;
}

function linesFrom({ lines }: LogsFlags): number {
  if (lines === undefined) return DEFAULT_LINES;
  if (/^[1-9]\d{0,8}$/.test(lines)) return Number(lines);
  throw invalid("--lines", lines, "a whole number of at least 1");
}

/** Prints the last lines and returns where the file ended. */
async function printTail(path: string, count: number): Promise<number> {
  if (!existsSync(path)) return 0;
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    let text = Buffer.alloc(0);
    for (let start = size; start > 0 && linesIn(text) <= count; ) {
      const bytes = Math.min(PIECE_BYTES, start);
      start -= bytes;
      text = Buffer.concat([pieceAt(file, start, bytes), text]);
    }
    const lines = text.toString("utf8").split("\n");
    await printAll(harmless(lines.slice(-count - 1).join("\n")));
    return size;
  } finally {
    closeSync(file);
  }
}

async function printFrom(path: string, offset: number): Promise<number> {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  // A log that grew too long begins anew.
  const from = size < offset ? 0 : offset;
  if (size === from) return size;
  const file = openSync(path, "r");
  try {
    // A character may lie on the border of two pieces.
    const decoder = new StringDecoder("utf8");
    for (let at = from; at < size; at += PIECE_BYTES)
      await printAll(harmless(decoder.write(pieceAt(file, at, Math.min(PIECE_BYTES, size - at)))));
    return size;
  } finally {
    closeSync(file);
  }
}

function pieceAt(file: number, start: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(file, buffer, 0, bytes, start));
}

function linesIn(text: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) count += 1;
  return count;
}
