import type { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { elapsed } from "../elapsed.js";

export interface Chunk {
  from: "stdout" | "stderr";
  data: Buffer;
}

const QUEUE_BYTES = 1024 * 1024;
/** A process that writes more makes so much garbage that collecting it in small pieces takes a third of the time. */
const MUCH_BYTES = 4 * 1024 * 1024;
const DRAIN_IDLE_MS = 250;
const DRAIN_MS = 2000;
/** More than a pipe holds: the process itself did not write what comes after that. */
const DRAIN_BYTES = 8 * 1024 * 1024;

/**
 * Both streams of a process as they come; slow reading slows the process down. Ends when both are closed. A
 * child left behind can keep them open: once the process itself has exited, reads only what is in the pipes,
 * for two seconds at most.
 */
export async function* readOutput(
  streams: Record<Chunk["from"], Readable>,
  exited: Promise<unknown>,
): AsyncGenerator<Chunk, void> {
  const queue = chunkQueue(streams);
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
    queue.wake();
  });
  // Only waiting counts: a slow reader still gets all that the process wrote.
  let waitedMs = 0;
  let drained = 0;
  while (queue.isOpen() && waitedMs < DRAIN_MS && drained < DRAIN_BYTES) {
    const [since, isDraining] = [elapsed(), hasExited];
    if (await queue.isIdle(isDraining ? DRAIN_IDLE_MS : undefined)) break;
    const chunks = queue.take();
    if (isDraining) {
      waitedMs += Math.min(elapsed() - since, DRAIN_IDLE_MS);
      drained += chunks.reduce((sum, { data }) => sum + data.length, 0);
    }
    yield* chunks;
  }
  yield* queue.take();
  for (const readable of Object.values(streams)) readable.destroy();
}

function chunkQueue(streams: Record<Chunk["from"], Readable>) {
  const readables = Object.values(streams);
  let chunks: Chunk[] = [];
  let [bytes, all] = [0, 0];
  let open = readables.length;
  let wake = (): void => {};
  for (const from of ["stdout", "stderr"] as const) {
    streams[from].on("error", () => {});
    streams[from].on("data", (data: Buffer) => {
      chunks.push({ from, data });
      bytes += data.length;
      if (all <= MUCH_BYTES && all + data.length > MUCH_BYTES)
        setFlagsFromString("--semi-space-growth-factor=2");
      all += data.length;
      if (bytes > QUEUE_BYTES) for (const readable of readables) readable.pause();
      wake();
    });
    streams[from].once("close", () => {
      open -= 1;
      wake();
    });
  }
  return {
    isOpen: () => open > 0,
    wake: () => wake(),
    /** Waits until there is something to do; true: nothing came for `idleMs`. */
    async isIdle(idleMs: number | undefined): Promise<boolean> {
      if (chunks.length > 0) return false;
      return new Promise((resolve) => {
        // On a busy machine the time is up before anybody has looked into the pipes: that comes before `setImmediate`.
        const look = (): unknown => setImmediate(resolve, true);
        const timer = idleMs === undefined ? undefined : setTimeout(look, idleMs);
        wake = () => {
          clearTimeout(timer);
          resolve(false);
        };
      });
    },
    take(): Chunk[] {
      const taken = chunks;
      [chunks, bytes] = [[], 0];
      for (const readable of readables) readable.resume();
      return taken;
    },
  };
}

const LF = 0x0a;
const CR = 0x0d;

export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Splits bytes at LF alone, never inside a character; cuts a line off at the limit and drops its rest. */
export function createLineSplitter(maxBytes: number = MAX_LINE_BYTES) {
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  const keep = (piece: Buffer): void => {
    const kept = piece.subarray(0, maxBytes - pendingBytes);
    if (kept.length === 0) return;
    pending.push(kept);
    pendingBytes += kept.length;
  };

  const take = (piece: Buffer): string => {
    if (pendingBytes === 0) return decode(piece.subarray(0, maxBytes));
    keep(piece);
    const all = Buffer.concat(pending, pendingBytes);
    pending = [];
    pendingBytes = 0;
    return decode(all);
  };

  return {
    /** The complete lines in this chunk, the first one joined with what came before. */
    push(chunk: Buffer): string[] {
      const lines: string[] = [];
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        lines.push(take(chunk.subarray(start, end)));
        start = end + 1;
      }
      keep(chunk.subarray(start));
      return lines;
    },
    /** The last line, if it did not end with LF. */
    end(): string[] {
      return pendingBytes === 0 ? [] : [take(Buffer.alloc(0))];
    },
  };
}

function decode(bytes: Buffer): string {
  const end = bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length;
  return bytes.toString("utf8", 0, end);
}
