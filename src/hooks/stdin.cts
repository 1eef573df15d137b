import { readSync } from "node:fs";

const CHUNK_BYTES = 64 * 1024;

/** All of stdin, or undefined when there is more than `maxBytes` of it. */
export async function readStdin(maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  for (;;) {
    // Read at once, which is quicker than a stream; a pipe that is not ready is waited for with one.
    const chunk = readChunk();
    if (chunk === undefined) break;
    if (chunk.length === 0) return textOf(chunks);
    left -= chunk.length;
    if (left < 0) return undefined;
    chunks.push(chunk);
  }
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    left -= chunk.length;
    if (left < 0) return undefined;
    chunks.push(chunk);
  }
  return textOf(chunks);
}

function textOf(chunks: Buffer[]): string {
  const [first] = chunks;
  return (first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)).toString("utf8");
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
