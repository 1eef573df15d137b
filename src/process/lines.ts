const LF = 0x0a;
const CR = 0x0d;

export const MAX_LINE_BYTES = 4 * 1024 * 1024;

export interface LineSplitter {
  /** Complete lines in this chunk and what is left of the ones before. */
  push(chunk: Buffer): string[];
  /** The last line, if it did not end with LF. */
  end(): string[];
}

/**
 * Splits bytes at LF alone: U+2028 and a lone CR are ordinary text. Bytes are decoded line by line, so no
 * character is ever cut in two. A line over the limit is cut off there, and the rest of it is dropped.
 */
export function createLineSplitter(maxBytes: number = MAX_LINE_BYTES): LineSplitter {
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  const keep = (piece: Buffer): void => {
    // The byte after the limit tells whether a character ends there.
    const kept = piece.subarray(0, maxBytes + 1 - pendingBytes);
    if (kept.length === 0) return;
    pending.push(kept);
    pendingBytes += kept.length;
  };

  const take = (piece: Buffer): string => {
    if (pendingBytes === 0 && piece.length <= maxBytes) return decode(piece);
    keep(piece);
    const all = Buffer.concat(pending, pendingBytes);
    pending = [];
    pendingBytes = 0;
    return decode(all.length > maxBytes ? all.subarray(0, characterEnd(all, maxBytes)) : all);
  };

  return {
    push(chunk) {
      const lines: string[] = [];
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        lines.push(take(chunk.subarray(start, end)));
        start = end + 1;
      }
      keep(chunk.subarray(start));
      return lines;
    },
    end() {
      return pendingBytes === 0 ? [] : [take(Buffer.alloc(0))];
    },
  };
}

/** The last position up to `limit` that does not stand inside a character. */
function characterEnd(bytes: Buffer, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

function decode(bytes: Buffer): string {
  const end = bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length;
  return bytes.toString("utf8", 0, end);
}
