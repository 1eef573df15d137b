import type { Readable } from "node:stream";

export interface Chunk {
  from: "stdout" | "stderr";
  data: Buffer;
}

const QUEUE_BYTES = 1024 * 1024;
const DRAIN_IDLE_MS = 250;
const DRAIN_MS = 2000;
/** More than pipes hold: what comes after that was not written by the process itself. */
const DRAIN_BYTES = 8 * 1024 * 1024;

/**
 * Both streams of a process as they come; reading slowly slows the process down. Ends when both are closed.
 * A child that was left behind can keep them open: once the process itself has exited, what is in the pipes
 * is read and no more, two seconds at the most.
 */
export async function* readOutput(
  streams: Record<Chunk["from"], Readable>,
  exited: Promise<unknown>,
): AsyncGenerator<Chunk, void> {
  const queue = chunkQueue(streams);
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
    queue.wake("exited");
  });
  // Only waiting counts: a reader that is slow itself still gets all that the process had written.
  let waitedMs = 0;
  let drained = 0;
  while (!queue.isClosed() && waitedMs < DRAIN_MS && drained < DRAIN_BYTES) {
    const since = performance.now();
    const reason = await queue.more(hasExited ? DRAIN_IDLE_MS : undefined);
    if (reason === "idle") break;
    const chunks = queue.take();
    if (hasExited && reason !== "exited") {
      waitedMs += performance.now() - since;
      drained += chunks.reduce((sum, { data }) => sum + data.length, 0);
    }
    yield* chunks;
  }
  yield* queue.take();
  queue.close();
}

type Reason = "data" | "closed" | "exited" | "idle";

function chunkQueue(streams: Record<Chunk["from"], Readable>) {
  const readables = Object.values(streams);
  let chunks: Chunk[] = [];
  let bytes = 0;
  let open = readables.length;
  let wake = (_: Reason): void => {};

  for (const from of ["stdout", "stderr"] as const) {
    streams[from].on("data", (data: Buffer) => {
      chunks.push({ from, data });
      bytes += data.length;
      if (bytes > QUEUE_BYTES) for (const readable of readables) readable.pause();
      wake("data");
    });
    streams[from].on("error", () => {});
    streams[from].once("close", () => {
      open -= 1;
      wake("closed");
    });
  }

  return {
    isClosed: () => open === 0,
    wake: (reason: Reason) => wake(reason),
    /** Resolves when there is something to do; `idle` after the given time without it. */
    more(idleMs: number | undefined): Promise<Reason> {
      if (chunks.length > 0) return Promise.resolve("data");
      return new Promise((resolve) => {
        const timer = idleMs === undefined ? undefined : setTimeout(resolve, idleMs, "idle");
        wake = (reason) => {
          clearTimeout(timer);
          resolve(reason);
        };
      });
    },
    take(): Chunk[] {
      const taken = chunks;
      chunks = [];
      bytes = 0;
      for (const readable of readables) readable.resume();
      return taken;
    },
    close(): void {
      for (const readable of readables) readable.destroy();
    },
  };
}
