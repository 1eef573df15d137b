import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { wholeNumber } from "../settings/limits.js";
import { harmless } from "../views/harmless.js";
import { readWorker } from "../workers/worker.js";
import { workerNamed } from "./find.js";
import { printAll } from "./output.js";

type LogsFlags = { follow?: boolean; lines?: string; events?: boolean };

const DEFAULT_LINES = 100;
const POLL_MS = 200;
const PIECE_BYTES = 1024 * 1024;

/** `ralph logs NAME`: what was shown in its window, or what happened to its iterations. */
export async function logs(name: string, flags: LogsFlags): Promise<number> {
  const { home, iterationsLog, outputLog } = workerNamed(name);
  const path = flags.events ? iterationsLog : outputLog;
  const count = flags.lines === undefined ? DEFAULT_LINES : wholeNumber("--lines", flags.lines, 1);
  if (!existsSync(path) && !flags.follow) {
    throw new RalphError(`worker '${name}' has written nothing yet`, { code: "log_missing", exitCode: 1 });
  }
  // A log is begun anew before it is too long to be read at once.
  const all = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const last = all
    .toString("utf8")
    .split("\n")
    .slice(-count - 1);
  await printAll(harmless(last.join("\n")));
  // A character may lie on the border of two pieces.
  const decoder = new StringDecoder("utf8");
  let offset = all.length;
  while (flags.follow) {
    const { loop } = readWorker(home, name);
    for (let piece = pieceAt(path, offset); piece.data.length > 0; piece = pieceAt(path, offset)) {
      await printAll(harmless(decoder.write(piece.data)));
      offset = piece.end;
    }
    if (loop === undefined) break;
    await sleep(POLL_MS);
  }
  return 0;
}

/** What stands in a file from an offset on; a file that is shorter than that has begun anew. */
function pieceAt(path: string, offset: number): { data: Buffer; end: number } {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const from = size < offset ? 0 : offset;
  const buffer = Buffer.alloc(Math.min(PIECE_BYTES, size - from));
  if (buffer.length === 0) return { data: buffer, end: from };
  const file = openSync(path, "r");
  try {
    const data = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
    return { data, end: from + data.length };
  } finally {
    closeSync(file);
  }
}
