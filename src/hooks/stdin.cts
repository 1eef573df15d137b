import { readSync } from "node:fs";

const CHUNK_BYTES = 64 * 1024;

/** All of stdin, or undefined when there is more than `maxBytes` of it. */
export async function readStdin(maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of piped()) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Read at once, which is quicker than a stream; a pipe that is not ready is waited for with one. */
async function* piped(): AsyncGenerator<Buffer> {
  for (;;) {
    const chunk = readChunk();
    if (chunk === undefined) return yield* process.stdin as AsyncIterable<Buffer>;
    if (chunk.length === 0) return;
    yield chunk;
  }
}

/** undefined: not ready. */
function readChunk(): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    return buffer.subarray(0, readSync(0, buffer, 0, CHUNK_BYTES, null));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EAGAIN") return undefined;
    if (code === "EOF") return buffer.subarray(0, 0);
    throw error;
  }
}
