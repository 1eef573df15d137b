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
