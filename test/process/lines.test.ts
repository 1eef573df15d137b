import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineSplitter, MAX_LINE_BYTES } from "../../src/process/output.js";
import { eventually } from "../kit.js";

function split(chunks: (string | Buffer)[], maxBytes?: number): string[] {
  const splitter = createLineSplitter(maxBytes);
  const lines = chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk as string)));
  return [...lines, ...splitter.end()];
}

/** Memory that buffers hold once everything that can go is gone. */
function bufferBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().arrayBuffers;
}

describe("lines", () => {
  it.each<[string, (string | Buffer)[], string[]]>([
    ["one line", ["one\n"], ["one"]],
    ["several lines in one chunk", ["one\ntwo\nthree\n"], ["one", "two", "three"]],
    ["one line in several chunks", ["o", "n", "", "e\n"], ["one"]],
    ["CRLF cut between CR and LF", ["one\r", "\ntwo\r", "\n"], ["one", "two"]],
    ["only the last CR of a line", ["one\r\r\n"], ["one\r"]],
    [
      "U+2028, U+2029, U+0085, VT and FF",
      ["a\u2028b\u2029c\u0085d\ve\ff\n"],
      ["a\u2028b\u2029c\u0085d\ve\ff"],
    ],
    ["NUL bytes", ["a\0b\n\0\n"], ["a\0b", "\0"]],
    ["empty lines", ["\n\none\n\n\r\n"], ["", "", "one", "", ""]],
    ["a torn last line", ["one\ntw"], ["one", "tw"]],
    ["a byte order mark", ["\ufeffone\n"], ["\ufeffone"]],
    ["bytes that are no UTF-8", [Buffer.from([0x61, 0xff, 0x62, 0x0a])], ["a\ufffdb"]],
  ])("splits %s", (_, chunks, expected) => {
    expect(split(chunks)).toEqual(expected);
  });

  it("equals split at LF for any text and any cutting of its bytes", () => {
    const piece = fc.oneof(
      fc.constantFrom("\n", "\r", "\r\n", "\u2028", "\u2029", "\0", "é", "€", "😀"),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200)), (content, cuts) => {
        const bytes = Buffer.from(content);
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort(
          (a, b) => a - b,
        );
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        const lines = content.split("\n");
        if (lines.at(-1) === "") lines.pop();
        expect(split(chunks)).toEqual(lines.map((line) => line.replace(/\r$/, "")));
      }),
      { numRuns: 500 },
    );
  });

  it("cuts long lines at the same place however their bytes arrive", () => {
    const piece = fc.constantFrom("a", "\n", "\r", "é", "€", "😀", "long enough");
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(100)), fc.integer({ min: 1, max: 12 }), (content, cuts, limit) => {
        const bytes = Buffer.from(content);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b);
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(split(chunks, limit)).toEqual(split([bytes], limit));
      }),
      { numRuns: 500 },
    );
  });

  it("cuts a line of 64 MB at the limit and holds no more than that in memory", async () => {
    const splitter = createLineSplitter();
    const before = bufferBytes();
    for (let round = 0; round < 2; round += 1) {
      const lines: string[] = [];
      for (let sent = 0; sent < 64; sent += 1) lines.push(...splitter.push(Buffer.alloc(1024 * 1024, "x")));
      expect(lines).toEqual([]);
      // What is collected is given back a moment later.
      await eventually(() => bufferBytes() - before < 2 * MAX_LINE_BYTES);
      const [long, ...next] = splitter.push(Buffer.from('tail\n{"type":"next"}\n'));
      expect(long === "x".repeat(MAX_LINE_BYTES)).toBe(true);
      expect(next).toEqual(['{"type":"next"}']);
    }
    expect(splitter.end()).toEqual([]);
  });
});
